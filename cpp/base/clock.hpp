#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <limits>
#include <utility>

namespace lawful {

/// Thrown when the time is up; earlier results stay valid.
struct OutOfTime : std::exception {};

/// Calls back during long loops, so that the caller can look at the time and stop the work.
class Clock {
public:
    /// Without a callback: the work is never stopped.
    Clock() = default;
    /// `look` is called about once per `between` steps, and throws to stop the work.
    explicit Clock(std::function<void()> look, std::size_t between = kBetweenLooks)
        : look_(std::move(look)), between_(between) {}
    /// As well, throws OutOfTime after so many steps, which is repeatable.
    void limit(std::size_t work) { left_ = work; }

    /// Counts `work` elementary steps, each of a few nanoseconds.
    void tick(std::size_t work) {
        done_ += work;
        if (done_ >= between_) look();
    }
    /// Calls back at once: for work that cannot be counted in steps.
    void look() {
        spent_ += done_;
        done_ = 0;
        if (look_) look_();
        if (spent_ >= left_) throw OutOfTime{};
    }
    /// Elementary steps so far.
    std::size_t spent() const { return spent_ + done_; }

private:
    static constexpr std::size_t kBetweenLooks = std::size_t{1} << 16;

    std::function<void()> look_;
    std::size_t between_ = kBetweenLooks;
    std::size_t done_ = 0;   // since the last look
    std::size_t spent_ = 0;  // before it
    std::size_t left_ = std::numeric_limits<std::size_t>::max();
};

}  // namespace lawful
