#pragma once

// Work without the GIL: signals, time limits, and mutual exclusion per object.

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#ifndef _WIN32
#include <pthread.h>
#endif

#include "base/clock.hpp"

namespace lawful {

namespace nb = nanobind;

/// Raises a class of `lawful.base.errors`, given by name.
[[noreturn]] inline void raise(const char* error, const std::string& message) {
    PyErr_SetString(nb::module_::import_("lawful.base.errors").attr(error).ptr(), message.c_str());
    throw nb::python_error();
}

inline void raise_signals() {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

/// Releases the GIL while it lives.
///
/// A thread that takes the GIL back while the interpreter shuts down would be unwound, which C++
/// answers with an abort. So `end`, called before that, lets all threads finish that are waiting
/// for the GIL, and threads that come later sleep forever: the interpreter does not wait for daemon
/// threads.
///
/// A child of fork() has none of the waiting threads, so the counters start anew there.
class Unlocked {
public:
    Unlocked() : state_(PyEval_SaveThread()) {}
    ~Unlocked() { take_back(); }
    Unlocked(const Unlocked&) = delete;
    Unlocked& operator=(const Unlocked&) = delete;

    /// Takes the GIL back to run signal handlers; false if one raised an exception.
    bool check_signals() {
        take_back();
        const bool fine = PyErr_CheckSignals() == 0;
        state_ = PyEval_SaveThread();
        return fine;
    }

    /// Resets the counters in children of fork().
    static void watch_forks() {
#ifndef _WIN32
        [[maybe_unused]] static const int once = pthread_atfork(nullptr, nullptr, &start_anew);
#endif
    }

    /// To be registered with `atexit`; called with the GIL held.
    static void end() {
        ender_ = std::this_thread::get_id();
        ending_ = true;
        PyThreadState* state = PyEval_SaveThread();
        while (returning_ > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        PyEval_RestoreThread(state);
    }

private:
    void take_back() {
        ++returning_;
        if (ending_ && std::this_thread::get_id() != ender_) {
            --returning_;
            for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
        }
        PyEval_RestoreThread(state_);
        --returning_;
    }

    static void start_anew() {
        ending_ = false;
        returning_ = 0;
    }

    static inline std::atomic<bool> ending_ = false;
    static inline std::thread::id ender_;           // written before ending_, read after it
    static inline std::atomic<int> returning_ = 0;  // threads that are waiting for the GIL

    PyThreadState* state_;
};

/// Thrown through the core if a signal handler raised; the Python error is set.
struct Interrupted : std::exception {};

/// Runs `work(clock)` without the GIL. Whenever the work ticks its clock, signals are checked, at
/// most once in ten milliseconds.
///
/// The clock throws OutOfTime after `seconds`. This and all other exceptions of the core reach the
/// caller, with the GIL held.
template <class Work>
void unlocked(std::optional<double> seconds, Work&& work) {
    using Time = std::chrono::steady_clock;
    constexpr auto kBetweenSignals = std::chrono::milliseconds(10);
    const auto began = Time::now();
    try {
        Unlocked gil;
        auto checked = began;
        Clock clock([&] {
            const auto now = Time::now();
            if (now - checked > kBetweenSignals) {
                checked = now;
                if (!gil.check_signals()) throw Interrupted{};
            }
            const std::chrono::duration<double> taken = now - began;
            if (seconds && taken.count() >= *seconds) throw OutOfTime{};
        });
        work(clock);
    } catch (const Interrupted&) {
        throw nb::python_error();
    }
    raise_signals();
}

/// The same with at most so many elementary steps, which are added to a sum.
template <class Work>
void unlocked(std::optional<double> seconds, std::optional<std::size_t> steps,
              std::atomic<std::size_t>& sum, Work&& work) {
    struct Counted {
        const Clock& clock;
        std::atomic<std::size_t>& sum;
        ~Counted() { sum += clock.spent(); }
    };
    unlocked(seconds, [&](Clock& clock) {
        if (steps) clock.limit(*steps);
        const Counted counted{clock, sum};
        work(clock);
    });
}

/// A lock for objects whose methods release the GIL: one thread at a time may use them.
class Turns {
public:
    /// `of` names the object in error messages.
    explicit Turns(const char* of) : of_(of) {}

    /// Holds the lock while it lives. Other threads wait; a nested call of the same thread raises.
    class Turn {
    public:
        explicit Turn(Turns& turns) : turns_(turns), lock_(turns.mutex_, std::try_to_lock) {
            if (!lock_.owns_lock() && turns.owner_ == std::this_thread::get_id())
                raise("InputError", "the " + std::string(turns.of_) +
                                        " is in use by this very thread: a signal handler or "
                                        "finalizer cannot use it");
            while (!lock_.owns_lock()) {
                {
                    const Unlocked gil;
                    (void)lock_.try_lock_for(std::chrono::milliseconds(20));
                }
                if (!lock_.owns_lock()) raise_signals();
            }
            turns.owner_ = std::this_thread::get_id();
        }
        ~Turn() { turns_.owner_ = std::thread::id(); }
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;

    private:
        Turns& turns_;
        std::unique_lock<std::timed_mutex> lock_;
    };

private:
    const char* of_;
    std::timed_mutex mutex_;
    std::atomic<std::thread::id> owner_;
};

}  // namespace lawful
