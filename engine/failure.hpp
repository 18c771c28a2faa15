#pragma once

#include <exception>
#include <stdexcept>
#include <string>

namespace trainfront::engine {

// What the user is told of an exception, and the status that the program leaves with.
struct Failure {
  int status = 0;
  std::string text;
};

Failure describe(const std::exception_ptr& thrown);

// A failure that all ranks know of and end with together; rank 0 alone speaks.
struct SharedFailure : std::runtime_error {
  explicit SharedFailure(const Failure& failure) : std::runtime_error(failure.text), status(failure.status) {}
  int status;
};

}  // namespace trainfront::engine
