#include "search/survival_bound.hpp"

#include <algorithm>
#include <cmath>

namespace lawful {

SurvivalBound::SurvivalBound(Residues residues, std::span<const double> missing,
                             const std::vector<Word>& words, std::size_t work, std::size_t memory,
                             Clock& clock)
    : residues_(std::move(residues)) {
    std::size_t steps = 0;
    for (const Word& word : words) steps += 2 + word.labels.size() + word.spans.size();
    const std::size_t bytes = 2 * (words.size() + 1) * sizeof(double);
    if (residues_.choose_prime(steps, work, bytes, memory)) fill(words, missing, clock);
}

void SurvivalBound::fill(const std::vector<Word>& words, std::span<const double> missing,
                         Clock& clock) {
    const std::size_t classes = residues_.classes();
    boundary_.assign((words.size() + 1) * classes, 0);
    within_.assign((words.size() + 1) * classes, 0);
    const std::vector<double> ends = residues_.ends(missing);
    for (std::size_t s = 0; s < classes; ++s)
        boundary_[words.size() * classes + s] = std::exp(-ends[s]);
    Runs runs, next_runs;
    for (std::size_t at = words.size(); at-- > 0;) {
        double* const here = boundary_.data() + at * classes;
        std::fill_n(here, classes, words[at].unlisted);
        add_labels(words[at], at, next_runs, runs, clock);
        add_spans(words[at], at, clock);
        // No share exceeds one, but sums of rounded shares may.
        for (std::size_t s = 0; s < classes; ++s) here[s] = std::min(here[s], 1.0);
        std::swap(runs, next_runs);
    }
}

/// Adds what labels of no field leave at the boundary before word `at`, and within their spans.
void SurvivalBound::add_labels(const Word& word, std::size_t at, const Runs& next_runs, Runs& runs,
                               Clock& clock) {
    const std::size_t classes = residues_.classes();
    double* const here = boundary_.data() + at * classes;
    const double* const after = boundary_.data() + (at + 1) * classes;
    double* const within = within_.data() + (at + 1) * classes;
    runs.assign(word.labels.size(), {});
    double straight = 0;  // the share of labels that always end at a boundary
    for (std::size_t l = 0; l < word.labels.size(); ++l) {
        const Word::Label& label = word.labels[l];
        clock.tick(classes * (1 + label.next.size()));
        if (label.next.empty()) {
            straight += label.begins * label.ends;
            continue;
        }
        std::vector<double>& run = runs[l];
        run.resize(classes);
        for (std::size_t s = 0; s < classes; ++s) run[s] = label.ends * after[s];
        for (const auto& [to, share] : label.next) {
            const std::vector<double>& on = next_runs[to];
            // Labels that always end at a boundary have no run of their own.
            for (std::size_t s = 0; s < classes; ++s)
                run[s] += share * (on.empty() ? boundary_[(at + 2) * classes + s] : on[s]);
        }
        for (std::size_t s = 0; s < classes; ++s) {
            here[s] += label.begins * run[s];
            within[s] = std::max(within[s], run[s]);
        }
    }
    for (std::size_t s = 0; s < classes; ++s) here[s] += straight * after[s];
}

/// Adds what spans of fields that start at word `at` leave at the boundary before it.
void SurvivalBound::add_spans(const Word& word, std::size_t at, Clock& clock) {
    const std::size_t classes = residues_.classes();
    double* const here = boundary_.data() + at * classes;
    for (const Word::Span& span : word.spans) {
        clock.tick(classes);
        const double* const there = boundary_.data() + span.end * classes;
        if (residues_.frees(span.choice)) {
            for (std::size_t s = 0; s < classes; ++s) here[s] += span.share;
            continue;
        }
        residues_.each_range(span.choice,
                             [&](std::size_t before, std::size_t after, std::size_t n) {
                                 for (std::size_t i = 0; i < n; ++i)
                                     here[before + i] += span.share * there[after + i];
                             });
    }
}

}  // namespace lawful
