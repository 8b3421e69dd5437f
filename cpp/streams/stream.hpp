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

/// A label of a candidate that the cheapest candidate does not have.
struct Change {
    std::uint32_t word;
    std::uint32_t label;
};

/// Candidates by rising cost, each exactly once; ties are repeatable.
///
/// The search tree is kept as it is found: candidate i is `found_[i]`, sixteen bytes whatever
/// the number of words, and its labels are those of the cheapest candidate with the changes on
/// the way to the root. So every candidate can be written out at any time, more than once, and
/// nothing is searched before it is asked for.
///
/// A derived stream states its cheapest candidate and expands one candidate at a time. Each
/// candidate is the successor of exactly one other, which is why there is no visited set.
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

    /// Searches until `count` candidates are found; fewer means that there are no more.
    /// Throws OutOfMemoryBudget, OutOfIndices or std::bad_alloc, and goes on throwing it for
    /// every count above found(): a stream that stopped has lost its place.
    std::size_t find(std::size_t count);

    /// Writes the labels of the found candidates from `first` on, one after another.
    template <class Label>
    void write_labels(std::size_t first, std::size_t count, Label* rows);
    void write_log_probs(std::size_t first, std::size_t count, double* log_probs) const;

    /// Stops at so many candidates, to show what happens there without finding four billion.
    void limit(std::size_t candidates) { limit_ = candidates; }

protected:
    Stream(std::size_t words, std::size_t labels, std::size_t memory)
        : arena_(memory), found_(arena_), frontier_(arena_), words_(words), labels_(labels) {}

    /// States the cheapest candidate, from the constructor; otherwise the stream is empty.
    void start(double cost, std::vector<std::uint32_t> labels) {
        feasible_ = true;
        best_cost_ = cost;
        best_ = std::move(labels);
    }

    std::uint32_t best_label(std::size_t word) const { return best_[word]; }

    /// Pushes the successors of candidate `index` on the frontier, none cheaper than itself.
    virtual void expand(std::uint32_t index) = 0;
    /// Appends where candidate `index` differs from the cheapest one.
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
    // The first row is a copy of the cheapest candidate for all the others; its own turn is last.
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
