#pragma once

// Work without the GIL: signals, time limits, and one thread at a time per object.

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

/// Raises one of lawful's own errors.
[[noreturn]] inline void raise(const char* error, const std::string& message) {
    PyErr_SetString(nb::module_::import_("lawful.errors").attr(error).ptr(), message.c_str());
    throw nb::python_error();
}

inline void raise_signals() {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

/// Gives the GIL to others while it lives.
///
/// Taking it back from a dying interpreter would end the thread by unwinding it, which C++ answers
/// with an abort. So before the interpreter dies, `end` lets everybody in who is waiting for the
/// GIL, and whoever comes later sleeps: nobody waits for a daemon thread.
///
/// A child of fork() has one thread, which is none of those that were waiting: it starts anew.
class Unlocked {
public:
    Unlocked() : state_(PyEval_SaveThread()) {}
    ~Unlocked() { take_back(); }
    Unlocked(const Unlocked&) = delete;
    Unlocked& operator=(const Unlocked&) = delete;

    /// Takes the GIL back for a moment; false when a signal was answered with an exception.
    bool hear_signals() {
        take_back();
        const bool fine = PyErr_CheckSignals() == 0;
        state_ = PyEval_SaveThread();
        return fine;
    }

    /// Has children of fork() forget the threads that they do not have.
    static void watch_forks() {
#ifndef _WIN32
        [[maybe_unused]] static const int once = pthread_atfork(nullptr, nullptr, &start_anew);
#endif
    }

    /// For `atexit`, called with the GIL held.
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
    static inline std::atomic<int> returning_ = 0;  // threads that wait for the GIL in here

    PyThreadState* state_;
};

/// Thrown through the core when a signal was answered with an exception of Python's, which is set.
struct Interrupted : std::exception {};

/// Does `work(clock)` without the GIL, and hears signals meanwhile, ten milliseconds apart: as
/// often as the work ticks or looks.
///
/// Its clock throws OutOfTime after so many seconds; that, and all else that the core throws, goes
/// to the caller, with the GIL.
template <class Work>
void unlocked(std::optional<double> seconds, Work&& work) {
    using Time = std::chrono::steady_clock;
    constexpr auto kBetweenSignals = std::chrono::milliseconds(10);
    const auto began = Time::now();
    try {
        Unlocked gil;
        auto heard = began;
        Clock clock([&] {
            const auto now = Time::now();
            if (now - heard > kBetweenSignals) {
                heard = now;
                if (!gil.hear_signals()) throw Interrupted{};
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

/// Lets one thread at a time use an object whose methods release the GIL.
class Turns {
public:
    /// `of` names the object in errors.
    explicit Turns(const char* of) : of_(of) {}

    /// Holds the object while it lives. Other threads wait; a call from within another call of the
    /// same thread raises.
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
