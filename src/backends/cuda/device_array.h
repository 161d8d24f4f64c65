#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "springtime/error.h"

namespace springtime::cuda {

// The memory of the device is full: with less work at once it may succeed.
class OutOfMemory : public Failure {
    using Failure::Failure;
};

// Throws Failure that names the call and its place unless it succeeded, OutOfMemory if that is why.
void check(cudaError_t result, const char* call, const char* file, int line);
#define SPRINGTIME_CUDA(call) ::springtime::cuda::check((call), #call, __FILE__, __LINE__)

// Free memory of the device. [bytes]
std::size_t free_memory();
// Of the present device.
int multiprocessor_count();

// Numbers in the memory of the device, which belong to it alone. Calls are in the order of the
// default stream.
template <class T>
class DeviceArray {
  public:
    DeviceArray() = default;
    explicit DeviceArray(std::size_t count) { resize(count); }
    explicit DeviceArray(std::span<const T> values) { assign(values); }
    ~DeviceArray() { cudaFree(data_); }
    DeviceArray(DeviceArray&& other) noexcept { *this = std::move(other); }
    DeviceArray& operator=(DeviceArray&& other) noexcept
    {
        std::swap(data_, other.data_);
        std::swap(count_, other.count_);
        std::swap(room_, other.room_);
        return *this;
    }

    // What it held means nothing afterwards. Room that is there is kept.
    void resize(std::size_t count)
    {
        if (count > room_) {
            release();
            SPRINGTIME_CUDA(cudaMalloc(&data_, count * sizeof(T)));
            room_ = count;
        }
        count_ = count;
    }
    void release()
    {
        cudaFree(data_);
        data_ = nullptr;
        count_ = room_ = 0;
    }
    void assign(std::span<const T> values)
    {
        resize(values.size());
        put(0, values);
    }
    void put(std::size_t first, std::span<const T> values)
    {
        if (values.empty()) return;
        SPRINGTIME_CUDA(
            cudaMemcpy(data_ + first, values.data(), values.size_bytes(), cudaMemcpyHostToDevice));
    }
    // Zeros are the bits of the number zero.
    void clear()
    {
        if (count_ > 0) SPRINGTIME_CUDA(cudaMemsetAsync(data_, 0, count_ * sizeof(T)));
    }
    void fetch(std::size_t first, std::span<T> values) const
    {
        if (values.empty()) return;
        SPRINGTIME_CUDA(
            cudaMemcpy(values.data(), data_ + first, values.size_bytes(), cudaMemcpyDeviceToHost));
    }
    std::vector<T> fetched() const
    {
        std::vector<T> values(count_);
        fetch(0, values);
        return values;
    }

    T* data() { return data_; }
    const T* data() const { return data_; }
    std::size_t size() const { return count_; }
    std::size_t size_bytes() const { return count_ * sizeof(T); }
    bool empty() const { return count_ == 0; }

  private:
    T* data_ = nullptr;
    std::size_t count_ = 0, room_ = 0;
};

// Numbers of the host that are copied to and from the device at full speed.
template <class T>
class PinnedArray {
  public:
    PinnedArray() = default;
    ~PinnedArray() { cudaFreeHost(data_); }
    PinnedArray(PinnedArray&& other) noexcept { *this = std::move(other); }
    PinnedArray& operator=(PinnedArray&& other) noexcept
    {
        std::swap(data_, other.data_);
        std::swap(count_, other.count_);
        std::swap(room_, other.room_);
        return *this;
    }
    void resize(std::size_t count)
    {
        if (count > room_) {
            cudaFreeHost(data_);
            data_ = nullptr;
            room_ = 0;
            SPRINGTIME_CUDA(cudaMallocHost(&data_, count * sizeof(T)));
            room_ = count;
        }
        count_ = count;
    }
    T* data() { return data_; }
    const T* data() const { return data_; }
    std::size_t size() const { return count_; }
    std::span<T> span() { return {data_, count_}; }
    std::span<const T> span() const { return {data_, count_}; }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }

  private:
    T* data_ = nullptr;
    std::size_t count_ = 0, room_ = 0;
};

}  // namespace springtime::cuda
