#pragma once

namespace trainfront::engine {

// Has the heap lie in large pages where the system offers them, before anything else is allocated: a sweep
// fills some hundred megabytes, and the first touch of each small page costs microseconds on virtual
// machines. What is not there or refused changes nothing.
void use_large_pages();

}  // namespace trainfront::engine
