#include "search/survival_bound.hpp"

#include <algorithm>
#include <cmath>

namespace lawful {

SurvivalBound::SurvivalBound(Residues residues, const std::vector<Word>& words, std::size_t work,
                             std::size_t memory, Clock& clock)
    : residues_(std::move(residues)) {
    std::size_t steps = 0;
    for (const Word& word : words) steps += 2 + word.labels.size() + word.ways.size();
    const std::size_t bytes = 2 * (words.size() + 1) * sizeof(double);
    if (residues_.choose_prime(steps, work, bytes, memory)) fill(words, clock);
}

void SurvivalBound::fill(const std::vector<Word>& words, Clock& clock) {
    const std::size_t classes = residues_.classes();
    boundary_.assign((words.size() + 1) * classes, 0);
    within_.assign((words.size() + 1) * classes, 0);
    const std::vector<double> ends = residues_.ends();
    for (std::size_t s = 0; s < classes; ++s)
        boundary_[words.size() * classes + s] = std::exp(-ends[s]);
    std::vector<std::vector<double>> runs, next_runs;  // by label, within its span
    for (std::size_t w = words.size(); w-- > 0;) {
        const Word& word = words[w];
        double* const here = boundary_.data() + w * classes;
        const double* const after = boundary_.data() + (w + 1) * classes;
        double* const within = within_.data() + (w + 1) * classes;
        std::fill_n(here, classes, word.unread);
        runs.assign(word.labels.size(), {});
        double straight = 0;  // through labels after which anything may begin
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
                // Labels that only end are not kept one by one.
                for (std::size_t s = 0; s < classes; ++s)
                    run[s] += share * (on.empty() ? boundary_[(w + 2) * classes + s] : on[s]);
            }
            for (std::size_t s = 0; s < classes; ++s) {
                here[s] += label.begins * run[s];
                within[s] = std::max(within[s], run[s]);
            }
        }
        for (std::size_t s = 0; s < classes; ++s) here[s] += straight * after[s];
        for (const Word::Way& way : word.ways) {
            clock.tick(classes);
            const Residues::Addend& addend = residues_.addend(way.reading);
            const double* const there = boundary_.data() + way.end * classes;
            if (addend.free) {
                for (std::size_t s = 0; s < classes; ++s) here[s] += way.share;
                continue;
            }
            residues_.each_range(addend, [&](std::size_t to, std::size_t from, std::size_t length) {
                for (std::size_t i = 0; i < length; ++i)
                    here[to + i] += way.share * there[from + i];
            });
        }
        // Nothing is more than all of it, whatever was rounded.
        for (std::size_t s = 0; s < classes; ++s) here[s] = std::min(here[s], 1.0);
        std::swap(runs, next_runs);
    }
}

}  // namespace lawful
