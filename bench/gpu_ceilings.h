#pragma once

namespace springtime::bench {

// What the device of this machine reaches when it does one thing alone.
struct GpuCeilings {
    double copy_bytes_per_second = 0;    // memory to memory, read and written bytes
    double shared_bytes_per_second = 0;  // reads of shared memory, without conflicts of banks
    double flops_per_second = 0;         // float multiply-adds, each two operations
};

GpuCeilings measure_gpu_ceilings();

}  // namespace springtime::bench
