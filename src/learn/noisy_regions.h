#pragma once

#include <array>
#include <vector>

#include "learn/displacement_balance.h"
#include "springtime/identify.h"

namespace springtime {

// Triangles and hinges in clusters that need not have the same number. The damping of bending
// drowns in noise, so all hinges share it.
class Partition {
  public:
    Partition(const Unknowns& unknowns, const Cloth& cloth, Regions regions);

    const Regions& regions() const { return regions_; }
    int count(Element element) const { return counts_[std::size_t(element)]; }
    std::size_t size() const { return kind_.size(); }  // of the shared unknowns
    std::size_t kind(std::size_t shared) const { return kind_[shared]; }
    const std::vector<std::size_t>& shared() const { return shared_; }  // by unknown
    Eigen::VectorXd expand(const Eigen::VectorXd& shared) const;
    Eigen::MatrixXd reduce(const Eigen::MatrixXd& of_elements) const;  // sums, by column

  private:
    Regions regions_;
    std::array<int, kElements.size()> counts_{};
    std::vector<std::size_t> shared_;
    std::vector<std::size_t> kind_;  // learned parameter, by shared unknown
};

// Finds regions of one fabric in a balance with an unknown for every element. A cluster of values
// is a first guess: elements that move little have values that say nothing. So clusters are joined
// as costs the motion least, and each element then goes where it costs least.
class NoisyRegions {
  public:
    using Part = DisplacementBalance::Part;
    NoisyRegions(const DisplacementBalance& balance, const Cloth& cloth,
                 const Eigen::VectorXd& diagonal);

    // Clusters of the values that a part of the motion gave to single elements, from many to few:
    // element [i][j] has i + 1 clusters of triangles, j + 1 of hinges.
    struct Clusters {
        std::vector<Regions> triangles, hinges;  // by number of clusters, less one
    };
    Clusters clusters(const Part& part, const Eigen::VectorXd& values) const;
    Partition partition(const Clusters& clusters, int triangles, int hinges) const;

    // The best values that are shared, of all unknowns. What noise takes is put back by adding as
    // much once more.
    Eigen::VectorXd solve(const Partition& partition, const Part& part) const;
    // Moves elements to regions that explain more of the part, with a pull to those beside.
    Partition refine(const Partition& partition, const Part& part) const;

    struct Answer {
        Eigen::VectorXd values, variances;  // of all unknowns
    };
    Answer answer(const Partition& partition) const;

  private:
    struct System {
        Eigen::MatrixXd matrix;
        Eigen::VectorXd right;
    };
    struct Moves {
        std::vector<double> gain;  // [element]
        std::vector<int> wanted;   // region
    };
    System system(const Partition& partition, const Part& part) const;
    System corrected(const Partition& partition, const Part& part) const;
    Eigen::VectorXd bounded(const Partition& partition, const System& system) const;
    std::vector<int> first_clusters(Element element, const Eigen::VectorXd& values) const;
    std::vector<Regions> joined(Element element, const Partition& finest, const System& all) const;
    Eigen::MatrixXd scores(const Eigen::VectorXd& values, const Part& part) const;
    Moves moves(Element element, const Partition& now, const Eigen::VectorXd& shared,
                const Eigen::VectorXd& scores, double unit) const;

    const DisplacementBalance& balance_;
    const Cloth& cloth_;
    Eigen::VectorXd diagonal_;
    DisplacementBalance::Blocks blocks_;
    std::array<std::vector<std::vector<std::size_t>>, kElements.size()> beside_{};
};

}  // namespace springtime
