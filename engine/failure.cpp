#include "engine/failure.hpp"

#include <new>

#include "engine/errors.hpp"
#include "inputs/diagnostics.hpp"

namespace trainfront::engine {

Failure describe(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const SharedFailure& failure) {
    return {failure.status, failure.what()};
  } catch (const UsageError& error) {
    return {kBadInput, error.what()};
  } catch (const inputs::InputError& error) {
    return {kBadInput, error.what()};
  } catch (const StoppedEarly& stop) {
    return {kResumable, stop.what()};
  } catch (const MachineError& error) {
    return {kInternalError, error.what()};
  } catch (const std::length_error& error) {
    return {kBadInput, error.what()};
  } catch (const std::bad_alloc&) {
    return {kInternalError, "out of memory"};
  } catch (const std::exception& error) {
    return {kInternalError, std::string("internal error: ") + error.what()};
  } catch (...) {
    return {kInternalError, "internal error of unknown kind"};
  }
}

}  // namespace trainfront::engine
