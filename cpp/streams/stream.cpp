#include "streams/stream.hpp"

namespace lawful {

std::size_t Stream::find(std::size_t count) {
    if (count <= found_.size()) return count;
    if (stopped_) std::rethrow_exception(stopped_);
    try {
        while (found_.size() < count && find_next()) {
        }
    } catch (...) {
        stopped_ = std::current_exception();
        throw;
    }
    return found_.size();
}

bool Stream::find_next() {
    if (found_.size() == 0) {
        if (feasible_) found_.push({0.0, 0, 0});
        return feasible_;
    }
    // Expanded only now, so that no work is done for successors of the last candidate requested.
    if (expanded_ < found_.size()) expand(static_cast<std::uint32_t>(expanded_++));
    if (frontier_.empty()) return false;
    if (found_.size() >= limit_) throw OutOfIndices{"candidates"};
    found_.push(frontier_.pop());
    return true;
}

void Stream::write_log_probs(std::size_t first, std::size_t count, double* log_probs) const {
    // 0.0 - x, not -x, so that certainty is 0 and not -0.
    for (std::size_t i = 0; i < count; ++i)
        log_probs[i] = 0.0 - (best_cost_ + found_[first + i].cost);
}

}  // namespace lawful
