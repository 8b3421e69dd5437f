#include "search/survival.hpp"

#include <algorithm>
#include <cmath>

namespace lawful {

Survival::Survival(Residues residues, const std::vector<Word>& words, std::size_t work,
                   std::size_t memory, Clock& clock)
    : residues_(std::move(residues)) {
    std::size_t steps = 0;
    for (const Word& word : words) steps += 2 + word.labels.size() + word.ways.size();
    const std::size_t bytes = 2 * (words.size() + 1) * sizeof(double);
    if (residues_.choose_prime(steps, work, bytes, memory)) fill(words, clock);
}

void Survival::fill(const std::vector<Word>& words, Clock& clock) {
    const std::size_t states = residues_.states();
    boundary_.assign((words.size() + 1) * states, 0);
    within_.assign((words.size() + 1) * states, 0);
    const std::vector<double> ends = residues_.ends();
    for (std::size_t s = 0; s < states; ++s)
        boundary_[words.size() * states + s] = std::exp(-ends[s]);
    std::vector<std::vector<double>> runs, next_runs;  // by label, within its span
    for (std::size_t w = words.size(); w-- > 0;) {
        const Word& word = words[w];
        double* const here = boundary_.data() + w * states;
        const double* const after = boundary_.data() + (w + 1) * states;
        double* const within = within_.data() + (w + 1) * states;
        std::fill_n(here, states, word.unread);
        runs.assign(word.labels.size(), {});
        double straight = 0;  // through labels after which anything may begin
        for (std::size_t l = 0; l < word.labels.size(); ++l) {
            const Word::Label& label = word.labels[l];
            clock.tick(states * (1 + label.next.size()));
            if (label.next.empty()) {
                straight += label.begins * label.ends;
                continue;
            }
            std::vector<double>& run = runs[l];
            run.resize(states);
            for (std::size_t s = 0; s < states; ++s) run[s] = label.ends * after[s];
            for (const auto& [to, share] : label.next) {
                const std::vector<double>& on = next_runs[to];
                // Labels that only end are not kept one by one.
                for (std::size_t s = 0; s < states; ++s)
                    run[s] += share * (on.empty() ? boundary_[(w + 2) * states + s] : on[s]);
            }
            for (std::size_t s = 0; s < states; ++s) {
                here[s] += label.begins * run[s];
                within[s] = std::max(within[s], run[s]);
            }
        }
        for (std::size_t s = 0; s < states; ++s) here[s] += straight * after[s];
        for (const Word::Way& way : word.ways) {
            clock.tick(states);
            const Residues::Addend& addend = residues_.addend(way.reading);
            const double* const there = boundary_.data() + way.end * states;
            if (addend.free) {
                for (std::size_t s = 0; s < states; ++s) here[s] += way.share;
                continue;
            }
            residues_.each_range(addend, [&](std::size_t to, std::size_t from, std::size_t length) {
                for (std::size_t i = 0; i < length; ++i)
                    here[to + i] += way.share * there[from + i];
            });
        }
        // Nothing is more than all of it, whatever was rounded.
        for (std::size_t s = 0; s < states; ++s) here[s] = std::min(here[s], 1.0);
        std::swap(runs, next_runs);
    }
}

}  // namespace lawful
