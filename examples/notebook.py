# %% [markdown]
# # From a PDF to fields
#
# A receipt as a PDF, the model that comes with lawful, three rules: what the model reads, what the
# rules repair, and what a rule may cost. Run it with `pip install 'lawful[extract]' matplotlib`.
#
# The same as a script is `examples/notebook.py`.

# %%
from collections import Counter

import matplotlib.pyplot as plt
from lawful_models import RECEIPT

import lawful
from lawful.readers import Reader
from lawful.readers.images import picture_of
from lawful.report import show
from lawful.rules.packs import DEMO

# %% [markdown]
# ## A document
#
# Take a PDF of your own instead, if you like. `Reader` makes a document of a file: words in reading
# order, with their boxes. A document shows itself.

# %%
path = DEMO / "receipt-00021.pdf"
document = Reader(ocr="never").read(path).with_id("receipt.pdf")
document

# %% [markdown]
# ## The model's answer
#
# A tagger gives every word a probability for every label. The best label of each word is the
# model's own answer, which decoders call `argmax`.

# %%
tagger = lawful.from_pretrained(RECEIPT)
(scored,) = tagger.predict([document])
rules = lawful.Rules.load(DEMO / "rules.yaml")
rules

# %%
before = lawful.decode(document, scored.scores, rules, decoder="argmax")
for check in before.violations:
    print(check)

# %% [markdown]
# Four conditions are violated: the model took *to pay* for the subtotal.
#
# ## The most probable answer that obeys the rules

# %%
decoding = lawful.decode(document, scored.scores, rules, alternatives=2)
decoding

# %%
for change in decoding.corrections:
    word = document.words[change.word]
    print(f"{word}: {change.old} -> {change.new}, {change.price:.2f} nats, {change.why}")

# %% [markdown]
# On the page itself:

# %%
show(scored, decoding, rules=rules, pictures=picture_of)

# %% [markdown]
# One rule still does not hold. The page says so, and no relabelling mends it, so it is a person's
# turn. If the change was misread, a pin says what is printed:

# %%
pin = {"words": [64, 65], "text": "16.54"}
pinned = lawful.decode(document, scored.scores, rules, pins=[pin])
print(pinned.status, [str(value) for value in pinned.values("change")])

# %% [markdown]
# ## What may a rule cost?
#
# A rule's weight is the number of nats of the model's evidence that it may overrule. Here are the
# demo's 48 pages, with the scores of a simulated tagger, under weights from 0 to 30: on how many
# pages all labels are right, how many the rules have fixed, and how many they have broken.

# %%
pages = list(lawful.read_jsonl(DEMO / "documents.jsonl.gz"))
plain = [lawful.decode(page.document, page.scores, rules, decoder="argmax") for page in pages]
were_right = [found.labels == page.gold for page, found in zip(pages, plain, strict=True)]

weights = [0, 0.5, 1, 2, 4, 10, 30]
counts = {}
for weight in weights:
    weighed = rules.with_defaults(weight=weight)
    found = [lawful.decode(page.document, page.scores, weighed) for page in pages]
    now = [answer.labels == page.gold for page, answer in zip(pages, found, strict=True)]
    counts[weight] = Counter(zip(were_right, now, strict=True))
    fixed, broken = counts[weight][False, True], counts[weight][True, False]
    print(f"weight {weight:>4}: {sum(now)} of 48 pages right, {fixed} fixed, {broken} broken")

# %%
figure, axes = plt.subplots(figsize=(6, 2.6), layout="constrained")
shown = [str(weight) for weight in weights]
axes.plot(shown, [count[False, True] for count in counts.values()], "o-", label="fixed")
axes.plot(shown, [count[True, False] for count in counts.values()], "s--", label="broken")
axes.set(xlabel="weight of every rule, in nats", ylabel="pages")
axes.legend(frameon=False)
plt.show()

# %% [markdown]
# Which weights suit your documents is a question that they can answer: `lawful rules learn`.
