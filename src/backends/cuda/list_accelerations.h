#pragma once

#include "backends/cuda/lane_set.h"
#include "backends/cuda/list_numbers.h"
#include "springtime/simulation.h"

namespace springtime::cuda {

// The elements of one type on the device, for threads that each look at one particle.
template <class T>
struct IncidentView {
    int count = 0;                // of elements
    const int* corner = nullptr;  // [corner][element]
    const T* number = nullptr;    // [number][element]
    // Those that touch particle p: incident[first[p]] to incident[first[p + 1] - 1], in the order
    // of the cloth, as element * kMostCorners + corner.
    const int *first = nullptr, *incident = nullptr;

    static constexpr int kMostCorners = 4;
};

// A cloth as those threads see it.
template <class T>
struct IncidentCloth {
    IncidentView<T> lists[kElementTypes];
    ListLaws laws;
    int range_count = 0;
    const SpringRange<T>* ranges = nullptr;  // [range][spring]
    const T* inverse_mass = nullptr;
    Vec3<T> gravity, wind;
    T drag{};
};

// The accelerations of given states of any cloth without a rod. Zero on what is held.
class Accelerations {
  public:
    Accelerations(const Cloth& cloth, const Environment& environment);

    void set_environment(const Environment& environment) { environment_ = environment; }
    // Of all learned parameters, then, if there is one more array, of the masses.
    void set_parameters(const ParameterValues& values);

    // Of some states of every lane, to [lane][state][xyz][particle].
    void run(const LaneView& lanes, const StatesView& states, float* to);
    // The same in double, from the parameters in double; only the result is rounded.
    void run_exact(const LaneView& lanes, const StatesView& states, float* to);

  private:
    template <class T>
    struct Numbers {
        DeviceArray<T> number[kElementTypes], inverse_mass;
        DeviceArray<SpringRange<T>> ranges;
        bool sent = false;  // since the last set_parameters()
    };
    template <class T>
    void send(Numbers<T>& to);
    template <class T>
    void start(Numbers<T>& numbers, const LaneView& lanes, const StatesView& states, float* to);

    ElementLists elements_;
    Environment environment_;
    DeviceArray<int> corner_[kElementTypes], first_[kElementTypes], incident_[kElementTypes];
    Numbers<float> float_;
    Numbers<double> double_;
};

}  // namespace springtime::cuda
