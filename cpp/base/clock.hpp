#pragma once

#include <cstddef>
#include <exception>
#include <functional>
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

    /// Counts `work` elementary steps, each of a few nanoseconds.
    void tick(std::size_t work) {
        done_ += work;
        if (done_ >= between_) look();
    }
    /// Calls back at once: for work that cannot be counted in steps.
    void look() {
        done_ = 0;
        if (look_) look_();
    }

private:
    static constexpr std::size_t kBetweenLooks = std::size_t{1} << 16;

    std::function<void()> look_;
    std::size_t between_ = kBetweenLooks;
    std::size_t done_ = 0;
};

}  // namespace lawful
