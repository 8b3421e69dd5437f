"""The words on generated pages, by language, and the properties of markets; all invented."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lab.receipts.money import MoneyStyle


def _list(text: str) -> tuple[str, ...]:
    return tuple(" ".join(part.split()) for part in text.split("|"))


@dataclass(frozen=True, slots=True)
class Language:
    """The words of pages in one language; ``keys`` has the words before values."""

    shops: tuple[str, ...]
    trades: tuple[str, ...]
    streets: tuple[str, ...]  # {} is the house number
    towns: tuple[str, ...]
    people: tuple[str, ...]
    months: tuple[str, ...]
    goods: tuple[str, ...]
    dishes: tuple[str, ...]
    jobs: tuple[str, ...]
    keys: Mapping[str, tuple[str, ...]]
    greetings: tuple[str, ...]
    thanks: tuple[str, ...]
    notices: str  # filler for the foot of the page, used word by word


@dataclass(frozen=True, slots=True)
class Market:
    """The currency, prices and taxes of a page. Amounts are in hundredths."""

    language: Language
    styles: tuple[MoneyStyle, ...]
    level: int  # the equivalent of one dollar
    ends: tuple[int, ...]  # prices are multiples of one of these
    notes: tuple[int, ...]  # cash is a multiple of one of these
    coins: tuple[int, ...]  # a rounded total is a multiple of one of these
    tax_rates: tuple[float, ...]
    tax_included: bool  # in shops; invoices always add it
    dates: tuple[str, ...]
    phone: str  # each # is a digit


ENGLISH = Language(
    shops=_list(
        "Blue Heron | Maple & Pine | Old Harbour | Copper Kettle | Juniper | Red Lantern"
        "| The Tin Spoon | Northgate | Willow Row | Saltmarsh | Little Orchard | Foxglove"
    ),
    trades=_list("Cafe | Market | Grocers | Kitchen | Bakery | Stores | Diner | Supplies | Deli"),
    streets=_list(
        "{} Mill Lane | {} Station Road | {} Orchard Street | {} Harbour View | {} Elm Avenue"
        "| Unit {} Dockside Park | {} Upper Bridge Street"
    ),
    towns=_list("Ashbourne | Eastwick 04211 | Port Ellery | Millford 90817 | Granton | Lowmoor"),
    people=_list("Amy | Ben | Carla | Dev | Erin | Farid | Grace | Hugo | Ines | Jonah"),
    months=_list("Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"),
    goods=_list(
        "Whole Milk 1L | Brown Bread | Free Range Eggs | Cheddar 200g | Bananas | Apple Juice"
        "| Spaghetti | Olive Oil 500ml | Butter | Tomatoes Loose | Kitchen Roll 2pk | Oat Biscuits"
        "| Green Tea 20 bags | Dish Soap | Carrots 1kg | Yoghurt Plain | Rice 2kg | Dark Chocolate"
        "| AA Batteries | Cornflakes | Ground Coffee | Salted Crisps | Cat Food | Frozen Peas"
    ),
    dishes=_list(
        "Soup of the Day | Chicken Pie | Fish & Chips | House Salad | Flat White | Cappuccino"
        "| Iced Tea | Mushroom Risotto | Beef Burger | Side Fries | Cheesecake | Sparkling Water"
        "| Lemonade | Grilled Salmon | Veg Curry | Garlic Bread | House Red 175ml | Apple Crumble"
    ),
    jobs=_list(
        "Site inspection | Replacement filter | Consulting hours | Travel expenses"
        "| Office chair grey | Network cable 5m | Annual licence | Installation | Desk lamp"
        "| Design work phase 2 | Printer paper box | Monthly maintenance | Training day"
    ),
    keys={
        "subtotal": _list("Subtotal | SUBTOTAL | Sub Total | Sub-Total | Net amount"),
        "discount": _list("Discount | DISCOUNT | Member discount | Promo 10% | Voucher"),
        "service": _list("Service charge | Service | SERVICE CHG | Svc Chg"),
        "tax": _list("Tax | Sales Tax | TAX | VAT | Tax {rate}%"),
        "total": _list("TOTAL | Total | Grand Total | TOTAL DUE | Amount due | Balance due"),
        "cash": _list("Cash | CASH | Cash tendered | Paid cash | Tendered"),
        "card": _list("Card | Debit card | CREDIT CARD | Contactless"),
        "change": _list("Change | CHANGE | Change due | Your change"),
        "rounding": _list("Rounding | Round off"),
        "tip": _list("Tip | Gratuity"),
        "included": _list("Incl. VAT {rate}% | Tax included {rate}%"),
        "repeat": _list("Amount charged | To pay | Amount"),
        "points": _list("Points earned | Loyalty points | You saved"),
        "pieces": _list("Items | No. of items | ITEM COUNT"),
        "cashier": _list("Cashier | Served by | Operator"),
        "table": _list("Table | Tbl | Covers"),
        "receipt": _list("Receipt | Check # | Trans | Order no"),
        "phone": _list("Tel | Phone | Tel."),
        "date": _list("Date | Issued"),
        "invoice": _list("INVOICE | Tax Invoice | Invoice"),
        "bill_to": _list("Bill to | Customer | Invoice to"),
        "columns": _list("Pos | Description | Qty | Unit price | Amount"),
    },
    greetings=_list("Welcome! | Open daily 8-20 | Fresh every day | *** SALE ***"),
    thanks=_list(
        "Thank you! | Thank you for your visit | Please come again | Have a nice day"
        "| Keep this receipt for your records | Follow us for offers"
    ),
    notices=(
        "Goods can be returned within 14 days with this receipt in their original packing. "
        "Opened food is excluded. Tell us how we did today and win a basket of treats. "
        "Our staff are happy to help with any question about your order."
    ),
)

INDONESIAN = Language(
    shops=_list(
        "Warung Melati | Sari Laut | Dapur Ibu Tini | Kopi Senja | Rumah Jati | Toko Makmur"
        "| Bambu Hijau | Sumber Pagi | Kedai Pelangi | Teras Kota"
    ),
    trades=_list("Resto | Cafe | Mart | Bakery | Swalayan | Seafood | Express"),
    streets=_list(
        "Jl. Kenanga No. {} | Jl. Mawar Raya {} | Ruko Anggrek Blok B{} | Jl. Pasar Lama {}"
        "| Mall Cendana Lt. {}"
    ),
    towns=_list("Bandung 40115 | Jakarta Selatan | Surabaya | Bogor | Denpasar | Medan 20112"),
    people=_list("Ayu | Budi | Citra | Dewi | Eko | Fitri | Galih | Hana | Indra | Wulan"),
    months=_list("Jan|Feb|Mar|Apr|Mei|Jun|Jul|Agu|Sep|Okt|Nov|Des"),
    goods=_list(
        "Beras 5kg | Minyak Goreng 1L | Gula Pasir | Telur Ayam | Mie Instan | Sabun Mandi"
        "| Teh Celup | Kopi Bubuk | Air Mineral 600ml | Susu UHT | Roti Tawar | Kecap Manis"
        "| Tisu Wajah | Sampo Sachet | Biskuit Kelapa | Keripik Singkong | Pasta Gigi"
    ),
    dishes=_list(
        "Nasi Goreng Spesial | Mie Ayam | Sate Ayam 10 tsk | Es Teh Manis | Ayam Bakar"
        "| Soto Betawi | Gado Gado | Es Jeruk | Kopi Susu | Nasi Putih | Cah Kangkung | Ikan Bakar"
        "| Tahu Crispy | Bakso Urat | Jus Alpukat | Pisang Goreng | Kue Lapis | Es Campur"
    ),
    jobs=_list(
        "Jasa pasang AC | Servis bulanan | Kabel jaringan | Kertas A4 rim | Ongkos kirim"
        "| Cetak brosur | Lampu LED 12W | Konsultasi teknis | Sewa tenda"
    ),
    keys={
        "subtotal": _list("Subtotal | SUB TOTAL | Sub-Total | SUBTTL"),
        "discount": _list("Diskon | DISC | Potongan | Disc 10%"),
        "service": _list("Service | Service Charge | SERVICE 5% | Biaya layanan"),
        "tax": _list("Pajak | PB1 {rate}% | Tax | PPN {rate}% | PAJAK RESTO"),
        "total": _list("TOTAL | Total | Grand Total | TOTAL BAYAR | Jumlah"),
        "cash": _list("Tunai | CASH | Bayar | TUNAI | Cash"),
        "card": _list("Debit | KARTU KREDIT | QRIS"),
        "change": _list("Kembali | KEMBALI | Kembalian | CHANGE"),
        "rounding": _list("Pembulatan | Rounding"),
        "tip": _list("Tip | Donasi"),
        "included": _list("Termasuk PPN {rate}% | Harga termasuk pajak"),
        "repeat": _list("Total Tagihan | Harus dibayar"),
        "points": _list("Poin | Anda hemat"),
        "pieces": _list("Item | Total Qty | Jml item"),
        "cashier": _list("Kasir | KASIR | Pelayan"),
        "table": _list("Meja | MEJA | Table"),
        "receipt": _list("Struk | No. | Bill No | Check"),
        "phone": _list("Telp | Tlp. | Telp."),
        "date": _list("Tgl | Tanggal | Tgl."),
        "invoice": _list("FAKTUR | Invoice | Faktur Penjualan"),
        "bill_to": _list("Kepada | Pelanggan"),
        "columns": _list("No | Uraian | Jml | Harga | Jumlah"),
    },
    greetings=_list("Selamat datang | Buka setiap hari 10-22 | DINE IN | TAKE AWAY"),
    thanks=_list(
        "Terima kasih | TERIMA KASIH ATAS KUNJUNGAN ANDA | Sampai jumpa lagi | Layanan konsumen"
        "| Simpan struk ini"
    ),
    notices=(
        "Barang yang sudah dibeli tidak dapat ditukar atau dikembalikan kecuali ada perjanjian. "
        "Kritik dan saran silakan hubungi kami lewat nomor di atas. Nikmati promo akhir pekan "
        "untuk semua menu pilihan selama persediaan masih ada."
    ),
)

GERMAN = Language(
    shops=_list(
        "Lindenhof | Zum Goldenen Fass | Feldkorn | Seeblick | Alte Mühle | Steinbach"
        "| Grünwald & Söhne | Bergquell | Hafenkante | Ährenwerk"
    ),
    trades=_list("Markt | Bäckerei | Gasthaus | GmbH | Café | Hofladen | Drogerie"),
    streets=_list(
        "Lindenstraße {} | Am Markt {} | Bahnhofstr. {} | Kirchweg {} | Obere Gasse {}"
        "| Hafenallee {}"
    ),
    towns=_list("34117 Kassel | 04103 Leipzig | 79098 Freiburg | 24103 Kiel | 93047 Regensburg"),
    people=_list("Anna | Bernd | Claudia | Dirk | Eva | Frank | Heike | Jonas | Lena | Uwe"),
    months=_list(
        "Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember"
    ),
    goods=_list(
        "Vollmilch 3,5% | Roggenbrot 750g | Bio Eier 10er | Gouda jung | Äpfel lose | Butter"
        "| Mineralwasser 6x | Spaghetti | Tomaten | Joghurt natur | Kaffee gemahlen | Spülmittel"
        "| Haferflocken | Zartbitter 100g | Küchenrolle | Gurke Stück | Apfelsaft | Senf mittel"
    ),
    dishes=_list(
        "Schnitzel Wiener Art | Käsespätzle | Bratwurst m. Kraut | Apfelschorle 0,4 | Pils 0,5"
        "| Gulaschsuppe | Salatteller groß | Kaffee Crema | Apfelstrudel | Rinderroulade"
        "| Weißwein 0,2 | Pommes frites | Linseneintopf"
    ),
    jobs=_list(
        "Montage vor Ort | Arbeitsstunden | Anfahrt | Ersatzfilter | Bürostuhl schwarz"
        "| Wartung jährlich | Netzwerkkabel 5m | Schulung halbtags | Druckerpapier Karton"
    ),
    keys={
        "subtotal": _list("Zwischensumme | Zw.-Summe | Summe netto | Nettobetrag"),
        "discount": _list("Rabatt | Nachlass | Treuerabatt | Gutschein"),
        "service": _list("Bedienung | Servicepauschale | Gedeck"),
        "tax": _list("MwSt | MwSt. {rate}% | USt {rate}% | zzgl. MwSt."),
        "total": _list("SUMME | Gesamt | Gesamtbetrag | Rechnungsbetrag | Zu zahlen"),
        "cash": _list("Bar | BAR | Gegeben | Gegeben bar"),
        "card": _list("Girocard | Kartenzahlung | EC-Karte"),
        "change": _list("Rückgeld | Zurück | RÜCKGELD"),
        "rounding": _list("Rundung"),
        "tip": _list("Trinkgeld"),
        "included": _list("inkl. MwSt. {rate}% | enth. MwSt {rate}%"),
        "repeat": _list("Betrag | Betrag dankend erhalten"),
        "points": _list("Treuepunkte | Sie sparen"),
        "pieces": _list("Posten | Anzahl Artikel"),
        "cashier": _list("Es bediente Sie | Bediener | Kasse 3"),
        "table": _list("Tisch | TISCH"),
        "receipt": _list("Bon-Nr. | Beleg | Rechnung Nr."),
        "phone": _list("Tel. | Telefon"),
        "date": _list("Datum | Rechnungsdatum"),
        "invoice": _list("RECHNUNG | Rechnung"),
        "bill_to": _list("An | Kunde | Rechnung an"),
        "columns": _list("Pos. | Bezeichnung | Menge | Einzelpreis | Betrag"),
    },
    greetings=_list("Willkommen | Mo-Sa 7-20 Uhr | Frisch vom Hof"),
    thanks=_list(
        "Vielen Dank für Ihren Einkauf | Vielen Dank! | Auf Wiedersehen | Bis bald | Guten Appetit"
    ),
    notices=(
        "Umtausch innerhalb von 14 Tagen nur mit diesem Beleg und in unbeschädigter Verpackung. "
        "Lebensmittel sind vom Umtausch ausgeschlossen. Bitte überweisen Sie den Betrag ohne Abzug "
        "auf unser Konto. Bei Fragen hilft Ihnen unser Personal gerne weiter."
    ),
)

FRENCH = Language(
    shops=_list(
        "Le Vieux Moulin | Chez Odette | La Petite Ancre | Au Bon Pain Doré | Les Tilleuls"
        "| Maison Corail | Le Jardin Clos | L'Épi Blond"
    ),
    trades=_list("Café | Épicerie | Bistrot | Boulangerie | SARL | Marché | Traiteur"),
    streets=_list(
        "{} rue des Lilas | {} avenue de la Gare | {} place du Marché | {} quai Neuf"
        "| {} chemin Vert"
    ),
    towns=_list("35000 Rennes | 21000 Dijon | 69003 Lyon | 44000 Nantes | 67000 Strasbourg"),
    people=_list("Alice | Bruno | Chloé | Denis | Élise | Fabien | Inès | Louis | Margot | Théo"),
    months=_list("janv.|févr.|mars|avril|mai|juin|juil.|août|sept.|oct.|nov.|déc."),
    goods=_list(
        "Lait demi-écrémé | Baguette tradition | Œufs plein air x6 | Comté 250g | Pommes Gala"
        "| Beurre doux | Eau minérale | Pâtes 500g | Jus d'orange | Café moulu | Yaourt nature"
        "| Lessive liquide | Chocolat noir | Carottes | Moutarde | Riz long 1kg"
    ),
    dishes=_list(
        "Soupe à l'oignon | Steak frites | Salade niçoise | Croque-monsieur | Crème brûlée"
        "| Verre de rouge | Café allongé | Carafe d'eau | Plat du jour | Tarte aux pommes"
        "| Moules marinières | Sirop menthe"
    ),
    jobs=_list(
        "Main d'œuvre | Déplacement | Filtre de rechange | Chaise de bureau | Câble réseau 5m"
        "| Forfait entretien | Formation | Ramette papier | Étude technique"
    ),
    keys={
        "subtotal": _list("Sous-total | SOUS-TOTAL | Total HT | Montant HT"),
        "discount": _list("Remise | Réduction | Bon d'achat"),
        "service": _list("Service | Frais de service"),
        "tax": _list("TVA | TVA {rate}% | Montant TVA"),
        "total": _list("TOTAL | Total TTC | NET À PAYER | Total à payer"),
        "cash": _list("Espèces | ESPÈCES | Reçu | Payé espèces"),
        "card": _list("Carte bancaire | CB | Sans contact"),
        "change": _list("Rendu | Monnaie rendue | À RENDRE"),
        "rounding": _list("Arrondi"),
        "tip": _list("Pourboire"),
        "included": _list("dont TVA {rate}% | TVA incluse {rate}%"),
        "repeat": _list("Montant | Montant réglé"),
        "points": _list("Points fidélité | Vous économisez"),
        "pieces": _list("Articles | Nb articles"),
        "cashier": _list("Caissier | Servi par | Caisse 2"),
        "table": _list("Table | Couverts"),
        "receipt": _list("Ticket | Ticket n° | Facture n°"),
        "phone": _list("Tél. | Tél"),
        "date": _list("Date | Le"),
        "invoice": _list("FACTURE | Facture"),
        "bill_to": _list("Client | Facturé à"),
        "columns": _list("N° | Désignation | Qté | PU | Montant"),
    },
    greetings=_list("Bienvenue | Ouvert 7j/7 | Fait maison"),
    thanks=_list("Merci de votre visite | Merci et à bientôt | Bon appétit | Bonne journée"),
    notices=(
        "Échange possible sous 14 jours sur présentation de ce ticket et dans l'emballage "
        "d'origine. Les produits frais ne sont ni repris ni échangés. Pour toute question notre "
        "équipe reste à votre disposition du lundi au samedi."
    ),
)

SPANISH = Language(
    shops=_list(
        "La Higuera | Casa Olivares | El Faro Azul | Los Almendros | Mesón del Río | Luna de Sal"
        "| Rincón Verde"
    ),
    trades=_list("Bar | Restaurante | Mercado | S.L. | Panadería | Tienda"),
    streets=_list("Calle Mayor {} | C/ del Sol {} | Avda. del Puerto {} | Plaza Nueva {}"),
    towns=_list("41001 Sevilla | 46003 Valencia | 50001 Zaragoza | 29005 Málaga"),
    people=_list("Ana | Carlos | Elena | Javier | Lucía | Marta | Pablo | Rocío | Sergio"),
    months=_list("ene|feb|mar|abr|may|jun|jul|ago|sep|oct|nov|dic"),
    goods=_list(
        "Leche entera 1L | Pan integral | Huevos camperos | Queso curado | Tomate rama | Aceite 1L"
        "| Arroz redondo | Agua 1,5L | Café molido | Yogur natural | Galletas | Detergente"
        "| Naranjas malla | Atún lata x3"
    ),
    dishes=_list(
        "Tortilla española | Patatas bravas | Croquetas caseras | Menú del día | Caña | Café solo"
        "| Gazpacho | Paella mixta | Agua sin gas | Tarta de queso | Calamares | Vino tinto copa"
    ),
    jobs=_list(
        "Mano de obra | Desplazamiento | Filtro recambio | Silla oficina | Cable de red 5m"
        "| Mantenimiento mensual | Papel A4 caja | Asesoría técnica"
    ),
    keys={
        "subtotal": _list("Subtotal | SUBTOTAL | Base imponible"),
        "discount": _list("Descuento | Dto. | Cupón"),
        "service": _list("Servicio | Servicio mesa"),
        "tax": _list("IVA | IVA {rate}% | Cuota IVA"),
        "total": _list("TOTAL | Total | Total a pagar | IMPORTE TOTAL"),
        "cash": _list("Efectivo | EFECTIVO | Entregado"),
        "card": _list("Tarjeta | Pago tarjeta"),
        "change": _list("Cambio | CAMBIO | Su cambio"),
        "rounding": _list("Redondeo"),
        "tip": _list("Propina"),
        "included": _list("IVA incluido {rate}% | incl. IVA {rate}%"),
        "repeat": _list("Importe | Importe cobrado"),
        "points": _list("Puntos | Usted ahorra"),
        "pieces": _list("Artículos | Uds."),
        "cashier": _list("Cajero | Le atendió | Camarero"),
        "table": _list("Mesa | Comensales"),
        "receipt": _list("Ticket | Factura simpl. | Nº"),
        "phone": _list("Tel. | Tfno"),
        "date": _list("Fecha | Emitida"),
        "invoice": _list("FACTURA | Factura"),
        "bill_to": _list("Cliente | Facturar a"),
        "columns": _list("Nº | Concepto | Cant. | Precio | Importe"),
    },
    greetings=_list("Bienvenidos | Abierto todos los días | Cocina casera"),
    thanks=_list("Gracias por su visita | Muchas gracias | Vuelva pronto | Buen provecho"),
    notices=(
        "Cambios en un plazo de 14 días con este ticket y el embalaje original. Los productos "
        "frescos no admiten devolución. Consulte las ofertas de la semana y pregunte a nuestro "
        "personal por cualquier duda sobre su compra."
    ),
)

_EURO_BEHIND = MoneyStyle(2, ".", ",", "{} €")
_EURO_CODE = MoneyStyle(2, ".", ",", "{} EUR")

_EURO_NOTES = (100, 500, 1000, 2000, 5000)
_RUPIAH_NOTES = (100_000, 500_000, 1_000_000, 2_000_000, 5_000_000, 10_000_000)

UNITED_STATES = Market(
    language=ENGLISH,
    styles=(MoneyStyle(2, ",", ".", "${}"),),
    level=100,
    ends=(1, 5, 25, 50),
    notes=(100, 500, 1000, 2000),
    coins=(5, 10, 25, 100),
    tax_rates=(6, 7.25, 8.25, 8.875),
    tax_included=False,
    dates=("{month:02}/{day:02}/{year}", "{name} {day}, {year}", "{year}-{month:02}-{day:02}"),
    phone="(###) 555-####",
)
UNITED_KINGDOM = Market(
    language=ENGLISH,
    styles=(MoneyStyle(2, ",", ".", "£{}"),),
    level=90,
    ends=(1, 5, 25, 50),
    notes=(100, 500, 1000, 2000),
    coins=(5, 10, 50),
    tax_rates=(20, 5),
    tax_included=True,
    dates=("{day:02}/{month:02}/{year}", "{day} {name} {year}"),
    phone="01632 9#####",
)
MALAYSIA = Market(
    language=ENGLISH,
    styles=(MoneyStyle(2, ",", ".", "RM {}"),),
    level=250,
    ends=(5, 10, 50),
    notes=(100, 500, 1000, 5000),
    coins=(5, 10, 50),
    tax_rates=(6, 8),
    tax_included=False,
    dates=("{day:02}/{month:02}/{year}", "{day:02}-{name}-{year}"),
    phone="03-5### ####",
)
INDONESIA = Market(
    language=INDONESIAN,
    styles=(
        MoneyStyle(0, ".", ",", "Rp {}"),
        MoneyStyle(0, ".", ",", "Rp{}"),
        MoneyStyle(0, ",", ".", "Rp {}"),
        MoneyStyle(2, ",", ".", "Rp {}"),
        MoneyStyle(2, ".", ",", "Rp {}"),
    ),
    level=500_000,
    ends=(50_000, 100_000, 100_000, 500_000),
    notes=_RUPIAH_NOTES,
    coins=(10_000, 50_000, 100_000),
    tax_rates=(10, 11),
    tax_included=False,
    dates=("{day:02}/{month:02}/{year}", "{day:02}-{month:02}-{year}", "{day} {name} {year}"),
    phone="08## #### ####",
)
GERMANY = Market(
    language=GERMAN,
    styles=(_EURO_BEHIND, _EURO_CODE, MoneyStyle(2, ".", ",", "€ {}")),
    level=90,
    ends=(1, 9, 10, 50),
    notes=_EURO_NOTES,
    coins=(5, 10, 50),
    tax_rates=(7, 19),
    tax_included=True,
    dates=("{day:02}.{month:02}.{year}", "{day}. {name} {year}"),
    phone="0### 5######",
)
FRANCE = Market(
    language=FRENCH,
    styles=(_EURO_BEHIND, MoneyStyle(2, " ", ",", "{} €"), _EURO_CODE),
    level=90,
    ends=(1, 5, 10, 50),
    notes=_EURO_NOTES,
    coins=(5, 10, 50),
    tax_rates=(5.5, 10, 20),
    tax_included=True,
    dates=("{day:02}/{month:02}/{year}", "{day} {name} {year}"),
    phone="01 99 00 ## ##",
)
SPAIN = Market(
    language=SPANISH,
    styles=(_EURO_BEHIND, _EURO_CODE),
    level=85,
    ends=(1, 5, 10, 50),
    notes=_EURO_NOTES,
    coins=(5, 10, 50),
    tax_rates=(10, 21),
    tax_included=True,
    dates=("{day:02}/{month:02}/{year}", "{day:02}-{month:02}-{year}"),
    phone="9## ## ## ##",
)

MARKETS: tuple[tuple[Market, float], ...] = (
    (UNITED_STATES, 5),
    (UNITED_KINGDOM, 3),
    (MALAYSIA, 2),
    (INDONESIA, 6),
    (GERMANY, 3),
    (FRANCE, 2),
    (SPAIN, 2),
)
"""The markets and their weights."""

MINUS_SIGNS = ("-{}", "-{}", "({})", "{}-", "{} -")
"""Formats of negative amounts."""
