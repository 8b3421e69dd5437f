"""What the server says to reviewers, in German and French: whole phrases, by their English form."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

LANGUAGES = ("en", "de", "fr")
"""The languages of the review page."""

UNKNOWN = (
    "not known: the time was up before enough other answers had been compared with this one. The "
    "value may be right or wrong; compare it with the page"
)
"""What is said instead of a confidence whose bounds are far apart."""

_PHRASES: Mapping[str, tuple[str, str]] = {
    r"The rule holds": ("Die Regel gilt", "La règle est respectée"),
    r"All (\d+) rules hold": ("Alle {0} Regeln gelten", "Les {0} règles sont respectées"),
    r"1 rule holds": ("1 Regel gilt", "1 règle est respectée"),
    r"(\d+) rules hold": ("{0} Regeln gelten", "{0} règles sont respectées"),
    r"(\d+) more are broken": ("{0} weitere sind verletzt", "{0} autres sont violées"),
    r"none of the rules could be checked": (
        "keine der Regeln war prüfbar",
        "aucune des règles n’a pu être vérifiée",
    ),
    r"(\d+) could not be checked": ("{0} waren nicht prüfbar", "{0} n’ont pu être vérifiées"),
    r"(\d+) of (\d+) row checks could not be made": (
        "{0} von {1} Prüfungen von Zeilen waren nicht möglich",
        "{0} des {1} contrôles de lignes n’ont pu être faits",
    ),
    r"what the hard rules and the reviewers say cannot hold together": (
        "die harten Regeln und das Gesagte schließen einander aus",
        "les règles strictes et ce qui a été dit s’excluent",
    ),
    r"There are no rules to check": ("Es gibt keine Regeln", "Il n’y a pas de règles"),
    r"It is not proven that this is the best answer": (
        "Es ist nicht bewiesen, dass dies die beste Antwort ist",
        "Il n’est pas prouvé que ce soit la meilleure réponse",
    ),
    r"the hard rules cannot hold together": (
        "die harten Regeln schließen einander aus",
        "les règles strictes s’excluent",
    ),
    r"no rule could be checked": ("keine Regel war prüfbar", "aucune règle n’a pu être vérifiée"),
    r"1 rule could not be checked": ("1 Regel war nicht prüfbar", "1 règle n’a pu être vérifiée"),
    r"(\d+) rules could not be checked": (
        "{0} Regeln waren nicht prüfbar",
        "{0} règles n’ont pu être vérifiées",
    ),
    r"not proven to be the best answer": (
        "nicht bewiesen, dass es die beste Antwort ist",
        "pas prouvé que ce soit la meilleure réponse",
    ),
    r"another answer is nearly as likely": (
        "eine andere Antwort ist fast so wahrscheinlich",
        "une autre réponse est presque aussi probable",
    ),
    r"look at (.*) and (\d+) more": (
        "ansehen: {0} und {1} weitere",
        "à vérifier : {0} et {1} autres",
    ),
    r"look at (.*)": ("ansehen: {0}", "à vérifier : {0}"),
    r"(.*): (\d+) % sure": ("{0}: zu {1} % sicher", "{0} : sûr à {1} %"),
    r"at least (\d+) % sure": ("mindestens {0} % sicher", "sûr à {0} % au moins"),
    r"(\d+) to (\d+) % sure": ("{0} bis {1} % sicher", "sûr à {0} à {1} %"),
    r"(\d+) % sure": ("zu {0} % sicher", "sûr à {0} %"),
    r"the model found this about as likely": (
        "das Modell fand dies etwa gleich wahrscheinlich",
        "le modèle l’a trouvé à peu près aussi probable",
    ),
    r"the model found this over a million times less likely": (
        "das Modell fand dies mehr als eine Million Mal weniger wahrscheinlich",
        "le modèle l’a trouvé plus d’un million de fois moins probable",
    ),
    r"the model found this over a million times more likely": (
        "das Modell fand dies mehr als eine Million Mal wahrscheinlicher",
        "le modèle l’a trouvé plus d’un million de fois plus probable",
    ),
    r"the model found this (.*) times less likely": (
        "das Modell fand dies {0}-mal weniger wahrscheinlich",
        "le modèle l’a trouvé {0} fois moins probable",
    ),
    r"the model found this (.*) times more likely": (
        "das Modell fand dies {0}-mal wahrscheinlicher",
        "le modèle l’a trouvé {0} fois plus probable",
    ),
    r"the rules have changed since this document was reviewed": (
        "die Regeln haben sich geändert, seit dieses Dokument geprüft wurde",
        "les règles ont changé depuis que ce document a été vérifié",
    ),
    r"the document has changed since it was reviewed": (
        "das Dokument hat sich geändert, seit es geprüft wurde",
        "le document a changé depuis qu’il a été vérifié",
    ),
    r"the answer is not the one that was reviewed": (
        "die Antwort ist nicht die, die geprüft wurde",
        "la réponse n’est pas celle qui a été vérifiée",
    ),
    re.escape(UNKNOWN): (
        "nicht bekannt: Die Zeit reichte nicht, um genug andere Antworten mit dieser zu "
        "vergleichen. Der Wert kann richtig oder falsch sein; vergleichen Sie ihn mit der Seite",
        "inconnue : le temps n’a pas suffi pour comparer assez d’autres réponses avec celle-ci. La "
        "valeur peut être juste ou fausse ; comparez-la avec la page",
    ),
}


@lru_cache(maxsize=4096)
def said(text: str, language: str) -> str:
    """A phrase in this language; as it is, if it is of a rule file or there is no such language."""
    if language not in LANGUAGES[1:]:
        return text
    for pattern, forms in _PHRASES.items():
        if (found := re.fullmatch(pattern, text)) is not None:
            return forms[LANGUAGES.index(language) - 1].format(*found.groups())
    return text
