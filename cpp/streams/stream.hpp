#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <utility>
#include <vector>

#include "base/arena.hpp"
#include "base/heap.hpp"

namespace lawful {

/// Thrown when 32-bit indices cannot number the words, labels or candidates of a stream.
struct OutOfIndices : std::exception {
    explicit OutOfIndices(const char* of) : of(of) {}
    const char* of;  // what there are too many of
};

/// A word of a candidate whose label differs from that of the cheapest candidate.
struct Change {
    std::uint32_t word;
    std::uint32_t label;
};

/// Candidates by rising cost, each exactly once; ties are repeatable.
///
/// The search tree is stored: candidate i is `found_[i]`, sixteen bytes for any number of words.
/// Its labels are those of the cheapest candidate with the changes on the path to the root. So
/// every candidate can be written out at any time, more than once, and no candidate is searched
/// for before it is requested.
///
/// A derived stream states its cheapest candidate and expands one candidate at a time. Each
/// candidate is the successor of exactly one other, so no set of visited candidates is needed.
class Stream {
public:
    virtual ~Stream() = default;
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    std::size_t words() const { return words_; }
    std::size_t labels() const { return labels_; }

    /// Candidates found so far.
    std::size_t found() const { return found_.size(); }
    /// Bytes in use.
    std::size_t held() const { return arena_.held(); }

    /// Searches until `count` candidates are found, or all; returns how many of them are found.
    /// Throws OutOfMemoryBudget, OutOfIndices or std::bad_alloc, and from then on throws the same
    /// for every count above found(): a stream that stopped cannot continue.
    std::size_t find(std::size_t count);

    /// Writes the labels of the found candidates from `first` on, one after another.
    template <class Label>
    void write_labels(std::size_t first, std::size_t count, Label* rows);
    void write_log_probs(std::size_t first, std::size_t count, double* log_probs) const;

    /// Lowers the number of candidates that may be numbered, which is four billion, for tests.
    void limit(std::size_t candidates) { limit_ = candidates; }

protected:
    Stream(std::size_t words, std::size_t labels, std::size_t memory)
        : arena_(memory), found_(arena_), frontier_(arena_), words_(words), labels_(labels) {}

    /// States the cheapest candidate; a stream whose constructor does not call it is empty.
    void start(double cost, std::vector<std::uint32_t> labels) {
        feasible_ = true;
        best_cost_ = cost;
        best_ = std::move(labels);
    }

    std::uint32_t best_label(std::size_t word) const { return best_[word]; }

    /// Pushes the successors of candidate `index` onto the frontier; none may be cheaper.
    virtual void expand(std::uint32_t index) = 0;
    /// Appends the changes that lead from the cheapest candidate to candidate `index`.
    virtual void list_changes(std::uint32_t index, std::vector<Change>& changes) = 0;

    Arena arena_;
    Chunked<Candidate> found_;
    RadixHeap frontier_;

private:
    bool find_next();

    std::size_t words_;
    std::size_t labels_;
    std::size_t limit_ = std::numeric_limits<std::uint32_t>::max();
    bool feasible_ = false;
    double best_cost_ = 0;
    std::vector<std::uint32_t> best_;
    std::size_t expanded_ = 0;
    std::exception_ptr stopped_;
    std::vector<Change> changes_;
};

template <class Label>
void Stream::write_labels(std::size_t first, std::size_t count, Label* rows) {
    if (count == 0) return;
    // The first row serves as the copy of the cheapest candidate, so its own changes come last.
    std::copy(best_.begin(), best_.end(), rows);
    for (std::size_t i = count; i-- > 0;) {
        Label* row = rows + i * words();
        if (i > 0) std::copy_n(rows, words(), row);
        changes_.clear();
        list_changes(static_cast<std::uint32_t>(first + i), changes_);
        for (const Change& change : changes_) row[change.word] = static_cast<Label>(change.label);
    }
}

}  // namespace lawful
