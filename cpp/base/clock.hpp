#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <utility>

namespace lawful {

/// Thrown when the time is up; what was found before stays valid.
struct OutOfTime : std::exception {};

/// Lets somebody look at the time while the core works: long loops say what work they have done.
class Clock {
public:
    /// Nobody looks.
    Clock() = default;
    /// `look` is called every now and then, and throws to end the work.
    explicit Clock(std::function<void()> look) : look_(std::move(look)) {}

    /// `work` is a number of elementary steps, each of some nanoseconds.
    void tick(std::size_t work) {
        done_ += work;
        if (done_ >= kBetweenLooks) look();
    }
    /// For work whose steps nobody can count.
    void look() {
        done_ = 0;
        if (look_) look_();
    }

private:
    static constexpr std::size_t kBetweenLooks = std::size_t{1} << 16;

    std::function<void()> look_;
    std::size_t done_ = 0;
};

}  // namespace lawful
