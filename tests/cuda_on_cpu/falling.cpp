// The kernel of a test as C++: the same source is CUDA in the tests for a device.
#include "../cuda_falling.cu"
