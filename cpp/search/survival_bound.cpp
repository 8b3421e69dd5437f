#include "search/survival_bound.hpp"

#include <algorithm>
#include <cmath>

namespace lawful {

SurvivalBound::SurvivalBound(std::optional<Residues> residues, std::span<const double> missing,
                             const std::vector<Word>& words, std::vector<const Answer*> answers,
                             std::size_t work, std::size_t memory, Clock& clock)
    : residues_(std::move(residues)) {
    std::size_t blocks = 1;
    for (const Answer* answer : answers) {
        answers_.push_back({answer, blocks});
        blocks += 2 * answers_.back().open();
    }
    if (residues_) {
        std::size_t steps = 0;
        for (const Word& word : words) steps += 2 + word.runs.size() + word.spans.size();
        const std::size_t bytes = blocks * (words.size() + 1) * sizeof(double);
        if (!residues_->choose_prime(blocks * steps, work, bytes, memory)) return;
        classes_ = residues_->classes();
    }
    width_ = blocks * classes_;
    fill(words, missing, clock);
}

void SurvivalBound::lower(Left& left, const Answer* answer, std::uint32_t seen, std::size_t word,
                          std::uint32_t residue_class) const {
    if (residue_class == Residues::kFree) return;
    for (const Blocks& blocks : answers_) {
        if (blocks.answer != answer) continue;
        const double* const here = cells(word) + residue_class;
        left.same = std::min(left.same, here[blocks.same(seen) * classes_]);
        left.other = std::min(left.other, here[blocks.other(seen) * classes_]);
    }
}

void SurvivalBound::fill(const std::vector<Word>& words, std::span<const double> missing,
                         Clock& clock) {
    boundary_.assign((words.size() + 1) * width_, 0);
    fill_end(boundary_.data() + words.size() * width_, missing);
    most_.assign((words.size() + 1) * blocks(), 0);
    find_most(words.size());
    for (std::size_t at = words.size(); at-- > 0;) {
        double* const here = boundary_.data() + at * width_;
        add_unlisted(words[at], at);
        add_steps(words[at], at, clock);
        // No share exceeds one, but sums of rounded shares may.
        for (std::size_t k = 0; k < width_; ++k) here[k] = std::min(here[k], 1.0);
        find_most(at);
    }
}

void SurvivalBound::find_most(std::size_t at) {
    for (std::size_t block = 0; block < blocks(); ++block) {
        const double* const here = boundary_.data() + at * width_ + block * classes_;
        const double after =
            at * width_ + width_ < boundary_.size() ? most_[(at + 1) * blocks() + block] : 0;
        most_[at * blocks() + block] = std::max(after, *std::max_element(here, here + classes_));
    }
}

/// Fills what unlisted steps leave at the boundary before word `at`: of a field's answer, what any
/// boundary leaves, unless the step may bring a value of the field.
void SurvivalBound::add_unlisted(const Word& word, std::size_t at) {
    double* const here = boundary_.data() + at * width_;
    const double* const most = most_.data() + (at + 1) * blocks();
    std::fill_n(here, width_, word.unlisted);
    for (const Blocks& answer : answers_) {
        const double own = std::min(word.unlisted, word.unlisted_of[answer.answer->field]);
        for (std::size_t b = answer.first; b < answer.first + 2 * answer.open(); ++b)
            std::fill_n(here + b * classes_, classes_, own + (word.unlisted - own) * most[b]);
    }
}

SurvivalBound::Left SurvivalBound::unlisted(const Answer* answer, std::uint32_t seen,
                                            std::size_t word) const {
    Left left;
    const double* const most = most_.data() + word * blocks();
    for (const Blocks& each : answers_)
        if (each.answer == answer) left = {1, most[each.same(seen)], most[each.other(seen)]};
    return left;
}

/// What is left at the end of the text: a field that is absent has its answer if that is nothing.
void SurvivalBound::fill_end(double* end, std::span<const double> missing) const {
    std::fill_n(end, classes_, 1.0);
    if (residues_) {
        const std::vector<double> costs = residues_->ends(missing);
        for (std::size_t s = 0; s < classes_; ++s) end[s] = std::exp(-costs[s]);
    }
    for (const Blocks& blocks : answers_)
        for (std::uint32_t seen = 0; seen < blocks.open(); ++seen) {
            const bool whole = seen == blocks.answer->size;
            std::copy_n(end, classes_,
                        end + (whole ? blocks.same(seen) : blocks.other(seen)) * classes_);
        }
}

/// Adds what steps from the boundary before word `at` leave there.
void SurvivalBound::add_steps(const Word& word, std::size_t at, Clock& clock) {
    double* const here = boundary_.data() + at * width_;
    for (const Word::Run& run : word.runs) {
        clock.tick(width_);
        const double* const there = boundary_.data() + run.end * width_;
        for (std::size_t k = 0; k < width_; ++k) here[k] += run.share * there[k];
    }
    for (const Word::Span& span : word.spans) {
        clock.tick(width_);
        const double* const there = boundary_.data() + span.end * width_;
        pass(here, there, span);
        for (const Blocks& blocks : answers_) {
            const Answer& answer = *blocks.answer;
            for (std::uint32_t seen = 0; seen < blocks.open(); ++seen) {
                const std::uint32_t now = answer.after(seen, span.choice);
                double* const same = here + blocks.same(seen) * classes_;
                double* const other = here + blocks.other(seen) * classes_;
                if (now == kBroken) {
                    pass(other, there, span);
                } else if (!answer.is_open(now)) {
                    pass(same, there, span);
                } else {
                    pass(same, there + blocks.same(now) * classes_, span);
                    pass(other, there + blocks.other(now) * classes_, span);
                }
            }
        }
    }
}

/// Adds what a span leaves of one block, from that of a block after it.
void SurvivalBound::pass(double* here, const double* there, const Word::Span& span) const {
    if (!residues_) {
        *here += span.share * *there;
        return;
    }
    if (residues_->frees(span.choice)) {
        for (std::size_t s = 0; s < classes_; ++s) here[s] += span.share;
        return;
    }
    residues_->each_range(span.choice, [&](std::size_t before, std::size_t after, std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) here[before + i] += span.share * there[after + i];
    });
}

}  // namespace lawful
