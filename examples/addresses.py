"""US addresses by usaddress' own model, without its RepeatedLabelError.

usaddress.tag fails if a label occurs in two places. Here the same model decodes under the rule that
each label is one run of words: the answer is the most probable labelling that tag accepts. Needs
python-crfsuite and usaddress.
"""

from itertools import groupby
from math import inf
from operator import itemgetter

import usaddress

import lawful
from lawful.models.crfsuite import CrfsuiteModel

ADDRESSES = (  # from usaddress' issues 341, 224, 305, 354, 359 and 311; and an intersection
    "2105 New Jersey Highway 35, Middletown, New Jersey 07748, USA",
    "10600 FOLSOM BLVD RANCHO CORDOVA 95670 CA",
    "The Boulder Apartments, 210 Simpson Parkway #R-100, 210 Simpson-Parkway, Cheney, WA 99004",
    "333 Wilkerson Ave., Stes. B & C, Perris, CA; 4262 Riverfield Ct., Riverside, CA",
    "38350 40TH ST EAST 100 PALMDALE CA 93552",
    "Bradenton-75th West, 4312 75th St. West, Bradenton, FL 34209",
    "State St & Main St, Springfield",
)

SEPARATOR = "IntersectionSeparator"


def one_run(label: str) -> str:
    """The rule that tag expects: parts of a street's name may occur on both sides of an '&'."""
    once = f"count({label}) <= 1"
    if "StreetName" not in label:
        return once
    return (
        f"{once} or present({SEPARATOR}) and count({label}) == 2 "
        f"and not before({label}, {SEPARATOR}) and not before({SEPARATOR}, {label})"
    )


model = CrfsuiteModel.load(usaddress.MODEL_PATH)
rules = lawful.Rules(
    [lawful.Field(label, label, presence="free", repeat="any") for label in model.labels],
    [lawful.Rule(one_run(label), id=label) for label in model.labels],
    scheme="IO",
    defaults=lawful.rules.RuleDefaults(weight=inf),
)


def decoded(words: list[str]) -> lawful.Decoding:
    """The most probable labelling in which each label is one run.

    A CRF's labellings are tried one by one. If two seconds are not enough, as for several addresses
    in one string, the search uses the marginal distribution of each word, with no limit: each label
    is still one run, but the labelling need not be the CRF's most probable one.
    """
    document = lawful.Document("address", words)
    scores = model.scores(usaddress.tokens2features(words) if words else [])
    limit = lawful.Budget(candidates=inf, seconds=2)
    found = lawful.decode(document, scores, rules, budget=limit)
    if found.status == "exhausted":
        found = lawful.decode(document, scores.marginals(), rules, budget=lawful.Budget(inf))
    return found


if __name__ == "__main__":
    for address in ADDRESSES:
        try:
            usaddress.tag(address)
            before = "usaddress.tag accepts"
        except usaddress.RepeatedLabelError:
            before = "RepeatedLabelError"
        found = decoded(usaddress.tokenize(address))
        print(f"{address}\n  {before}; log-probability {found.log_prob:.2f}, {found.status}")
        pairs = zip(found.labels, found.words, strict=True)
        for label, run in groupby(pairs, key=itemgetter(0)):
            print(f"    {label:<26}{' '.join(word for _, word in run)}")
