"""Key words: what is usually printed beside a value, and what fields with such values are called.

The names of an object's fields and the words around a place are compared by the concept that they
are about, or else word by word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from lawful.candidates.grounding.matches import fold

_CONCEPTS = """
subtotal: subtotal, sub total, sub ttl, subttl, zwischensumme, sous total, sub jumlah, line
    total, tax basis total, tax basis, total ht, montant ht, net, netto, nettobetrag, summe
    netto, total net, hors taxe, taxable, tax base, amount excl, total excl, warenwert, base
    amount, dpp, positionssumme
total: total, grand total, ttl, summe, gesamtsumme, gesamtbetrag, gesamt, rechnungsbetrag,
    brutto, bruttobetrag, gross, total ttc, montant ttc, ttc, total price, jumlah, total amount,
    amount total, endsumme, endbetrag, rechnungssumme, total incl, total sales, importe total,
    totale
due: due payable, due, amount due, balance due, payable, zahlbetrag, zu zahlen, net a payer, a
    payer, reste a payer, fälliger betrag, offener betrag, due payable amount, zahlbar, balance
tax: tax, vat, gst, hst, pst, mwst, mehrwertsteuer, ust, umsatzsteuer, tva, pb1, pb 1, ppn,
    pajak, sales tax, tax total, tax amount, steuer, steuerbetrag, montant tva, iva, service
    tax, p b1, taxes
service: service, service charge, svc, servis, svc chg, ser chg, service chrg, serv charge
discount: discount, disc, rabatt, remise, diskon, nachlass, allowance, allowance total,
    reduction, promo, voucher, skonto, potongan, rabatte, abzüge
charge: charge total, charges, zuschlag, zuschläge, frais, versandkosten, shipping, freight,
    porto
cash: cash, tunai, bar, espèces, gegeben, cash paid, tendered, tender, cash tendered, cash
    price, bayar, dibayar, pembayaran, paid, uang, bargeld
card: credit card, creditcard, card, kartu, debit, visa, mastercard, ec karte, edc, kredit, bca,
    kartenzahlung, eftpos, amex
emoney: emoney, e money, gopay, ovo, flazz, go pay, wallet, epay
change: change, kembali, kembalian, rückgeld, zurück, changed, change due, rendu, cash back
prepaid: prepaid, anzahlung, deposit, acompte, bereits gezahlt, vorauszahlung, payé, gezahlt
rounding: rounding, rounded, round, rundung, arrondi, pembulatan
tip: tip, tips, gratuity, trinkgeld, pourboire
items: menu qty, item count, items, qty total, total qty, total item, items sold, anzahl
    artikel, jumlah item, total items, menuqty, item qty, total quantity
types: menu type, types, menutype
quantity: qty, quantity, menge, anzahl, quantité, qté, count, cnt, pcs, units, einheiten, banyak
unit: unit price, unitprice, price each, einzelpreis, stückpreis, e preis, ep, prix unitaire, pu
    ht, pu, rate per unit, price per unit, each
price: price, preis, harga, prix, prices, preise
amount: amount, betrag, montant, line amount, gesamtpreis, extended price, positionsbetrag,
    total price, wert, ammount, montant ht ligne
rate: rate, tax rate, vat rate, satz, steuersatz, taux, percent, prozent, ust satz, mwst satz
description: description, item, product, artikel, bezeichnung, beschreibung, désignation, name,
    nm, prod item, leistung, article, artikelbezeichnung, goods
number: invoice number, invoice no, invoice, number, rechnungsnummer, rechnung nr, rechnungs nr,
    rechnung, numéro, facture, facture n, no, nr, bill no, receipt no, belegnummer, order
    number, document number, inv no, invoice id, belegnr
order: order, order no, purchase order, bestellung, bestellnummer, commande, po number, auftrag
issued: date, issued, issue date, invoice date, rechnungsdatum, datum, date de facture,
    ausgestellt, tanggal, tgl, date d émission, belegdatum, bill date, date facture, date value
duedate: due date, fällig, zahlbar bis, fälligkeit, fälligkeitsdatum, échéance, date d échéance,
    payment due, pay by, zahlungsziel, date due, fällig am
delivered: delivered, delivery date, lieferdatum, leistungsdatum, date de livraison,
    liefertermin, livraison, leistungszeitraum, versanddatum
time: time, uhrzeit, heure, jam, time value, uhr, zeit
phone: tel, phone, telefon, telephone, fon, téléphone, telp, hotline, tel value, contact
fax: fax, telefax
iban: iban, kontonummer, account
vat_id: vat id, ust id nr, ust idnr, ust id, vat no, vat number, tva intracom, tax id, seller
    vat, steuernummer, gst no, gst id, gst reg, numéro tva, vat reg, umsatzsteuer id
customer: customer, customer no, kundennummer, kunden nr, kunde, client
"""
"""Words by the concept that they name, in English, German, French and Indonesian."""

RELATED = (
    {"total", "due"},
    {"total", "subtotal"},
    {"total", "cash", "card", "emoney"},
    {"unit", "amount", "price"},
    {"price", "total"},
    {"amount", "total", "subtotal"},
    {"issued", "number"},
    {"tax", "rate"},
)
"""Concepts whose key words often stand beside each other's values."""

_PARTS = re.compile(r"[A-Z]?[a-zà-ÿ]+|[A-Z]+(?![a-z])|[0-9]+|[^\W\d_]+")


def _read_concepts(text: str) -> dict[tuple[str, ...], str]:
    """The concept of every phrase, as folded words; phrases of one concept may go on a new line."""
    found: dict[tuple[str, ...], str] = {}
    for line in re.sub(r"\n +", " ", text.strip()).splitlines():
        concept, _, phrases = line.partition(":")
        for phrase in phrases.split(","):
            found[tuple(map(fold, phrase.split()))] = concept
    return found


_PHRASES = _read_concepts(_CONCEPTS)
LONGEST = max(map(len, _PHRASES))
_JOINED = {"".join(phrase): concept for phrase, concept in _PHRASES.items()}


@lru_cache(maxsize=65_536)
def concept_of(words: tuple[str, ...]) -> str | None:
    """The concept of the longest phrase among folded words; of equals, the last one."""
    best, size = None, 0
    for end in range(len(words), 0, -1):
        for start in range(max(0, end - LONGEST), end):
            joined = "".join(words[start:end])
            if len(joined) > size and (found := _JOINED.get(joined)) is not None:
                best, size = found, len(joined)
    return best


@lru_cache(maxsize=4096)
def words_of(name: str) -> tuple[str, ...]:
    """The words of a name such as ``cashPrice``, ``cash_price`` or ``CASH-PRICE``."""
    return tuple(fold(part) for part in _PARTS.findall(name))


class Meaning:
    """What a field is about, by the names that lead to it, from the outermost to its own."""

    def __init__(self, names: Iterable[str]) -> None:
        parts = [words_of(name) for name in names]
        self.words = frozenset(word for part in parts[-1:] for word in part if len(word) > 1)
        self.concept = concept_of(parts[-1]) if parts else None
        self.is_amount = self.concept in ("price", "amount", "total", "subtotal")

    def likeness(self, words: tuple[str, ...]) -> float:
        """From -1, words about something else, to 1, words about the field; 0 says nothing."""
        if not words:
            return 0.0
        there = concept_of(words)
        if there is not None and self.concept is not None:
            if there == self.concept:
                return 1.0
            return -0.25 if any({there, self.concept} <= each for each in RELATED) else -1.0
        if self.words and any(alike(a, b) for a in self.words for b in words):
            return 1.0
        return -0.25 if there is not None else 0.0


def alike(one: str, other: str) -> bool:
    """Whether two folded words are equal, or one of at least four letters begins the other."""
    return one == other or (
        min(len(one), len(other)) >= 4 and (one.startswith(other) or other.startswith(one))
    )
