// Result<T>: a value or an Error. The only way a fallible function of ours reports failure.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/error.h"

namespace paddock {

// Holds exactly one of T or Error. Move-only when T is. Reading the wrong side is a bug of ours and
// aborts. [[nodiscard]] so that no error is dropped by accident.
template <typename T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & { return *require(std::get_if<0>(&state_)); }
  const T& value() const& { return *require(std::get_if<0>(&state_)); }
  T&& value() && { return std::move(*require(std::get_if<0>(&state_))); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  Error& error() & { return *require(std::get_if<1>(&state_)); }
  const Error& error() const& { return *require(std::get_if<1>(&state_)); }
  Error&& error() && { return std::move(*require(std::get_if<1>(&state_))); }

  // Adds what we were doing, outermost first: "opening the view: reading /x: No such file".
  Result&& with_context(std::string doing) && {
    if (!ok()) error().add_context(std::move(doing));
    return std::move(*this);
  }

 private:
  template <typename P>
  static P* require(P* side) {
    if (side == nullptr) detail::wrong_side_of_result();
    return side;
  }

  std::variant<T, Error> state_;
};

// The result of an action without a value: `return {}` for success.
template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  void value() const {
    if (error_) detail::wrong_side_of_result();
  }

  Error& error() & { return require(); }
  const Error& error() const& { return const_cast<Result*>(this)->require(); }
  Error&& error() && { return std::move(require()); }

  Result&& with_context(std::string doing) && {
    if (error_) error_->add_context(std::move(doing));
    return std::move(*this);
  }

 private:
  Error& require() {
    if (!error_) detail::wrong_side_of_result();
    return *error_;
  }

  std::optional<Error> error_;
};

using Status = Result<void>;

}  // namespace paddock

// Evaluates to the value of a Result, or returns its error from the enclosing function.
#define PD_TRY(...) PD_TRY_NAMED(PD_UNIQUE(pd_result_, __COUNTER__), __VA_ARGS__)

// The same, saying what we were doing: PD_TRY_CTX("reading the journal", read_file(path)).
#define PD_TRY_CTX(doing, ...) \
  PD_TRY_CTX_NAMED(PD_UNIQUE(pd_result_, __COUNTER__), doing, __VA_ARGS__)

// A name of its own, since one may stand in a lambda within another.
#define PD_UNIQUE(name, number) PD_UNIQUE_OF(name, number)
#define PD_UNIQUE_OF(name, number) name##number
#define PD_TRY_NAMED(result, ...)                       \
  ({                                                    \
    auto result = (__VA_ARGS__);                        \
    if (!result.ok()) return std::move(result).error(); \
    std::move(result).value();                          \
  })
#define PD_TRY_CTX_NAMED(result, doing, ...)                            \
  ({                                                                    \
    auto result = (__VA_ARGS__);                                        \
    if (!result.ok()) {                                                 \
      return std::move(std::move(result).error().add_context((doing))); \
    }                                                                   \
    std::move(result).value();                                          \
  })
