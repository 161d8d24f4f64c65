#pragma once

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <optional>
#include <vector>

#include "learn/balance_reader.h"
#include "learn/element_formula.h"
#include "learn/unknowns.h"
#include "learn/work.h"

namespace springtime {

inline Eigen::Index index_of(std::size_t unknown)
{
    return static_cast<Eigen::Index>(unknown);
}

// The factors of many sparse symmetric matrices of one pattern, which is stored once.
class FactorPattern {
  public:
    explicit FactorPattern(const Eigen::SparseMatrix<float>& pattern);

    using Solver = Eigen::SimplicialLLT<Eigen::SparseMatrix<float>>;
    using Values = std::vector<float>;
    std::size_t size() const { return rows_.size(); }  // of the values
    // With a solver that has analysed the pattern. Each thread has its own.
    static Values factor(Solver& solver, const Eigen::SparseMatrix<float>& matrix);
    void solve(const Values& values, Eigen::VectorXf& x) const;
    // Of many right-hand sides at once, which reads the values once.
    using Columns = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    void solve(const Values& values, Columns& x) const;

  private:
    Eigen::VectorXi order_;
    std::vector<int> column_ends_, rows_;
};

// The balance of motion with noise. An error e of the positions changes the forces on the particles
// by K e, where K is the stiffness matrix of the sheet. These forces are large, because elements
// are stiff, and cancel over a few particles. So residuals of forces are turned into displacements
// that would explain them, (K + s M)^-1 r, before they are squared: least squares weighted by
// nearly the covariance of the noise. s M is the inertia in a window, s^2 = sum phi''^2 / sum
// phi^2. Displacements of a whole sheet take part in each equation, so products are computed place
// by place and no matrix is kept.
class DisplacementBalance {
  public:
    // Windows are left out evenly until the balance takes no more than `most_bytes`.
    DisplacementBalance(const BalanceReader& reader, const std::optional<Regions>& regions,
                        const Scheme& scheme, std::size_t most_bytes, Work& work);

    // Takes the stiffness matrix of these parameters.
    void weigh(const Cloth& cloth);

    // What is summed over: the motion as it is or with as much noise again, all of it or a half.
    struct Part {
        bool noisier = false;
        std::optional<std::size_t> fold{};
    };
    Eigen::VectorXd multiply(const Part& part, const Eigen::VectorXd& x) const;  // H x
    Eigen::VectorXd right(const Part& part) const;
    // Where unknown i is the shared unknown `shared[i]`, of `size`: H, and beside it the right.
    Eigen::MatrixXd shared_system(const Part& part, const std::vector<std::size_t>& shared,
                                  std::size_t size) const;
    Eigen::VectorXd diagonal() const;  // of H, estimated by random vectors
    // The parts of H that belong to one element, likewise. Elements must have unknowns of their
    // own.
    struct Blocks {
        std::vector<std::size_t> first;  // of the unknowns of its element, by unknown
        Eigen::MatrixXd values;          // [unknown][place of the other in the element]
        double at(std::size_t i, std::size_t j) const
        {
            return values(index_of(i), index_of(j - first[i]));
        }
    };
    Blocks blocks() const;
    struct Squares {
        double displacements = 0;  // weighted [m^2]
        double forces = 0;         // [N^2]
    };
    // Of the residuals, or of what elements must exert if no parameters are given.
    Squares squares(const Part& part, const Eigen::VectorXd* parameters = nullptr) const;
    // Of the displacements, for separate stretches of motion.
    Eigen::VectorXd squares_by_stretch(const Part& part, const Eigen::VectorXd& parameters,
                                       int groups) const;
    // Minus the gradient of half the squares, likewise.
    Eigen::MatrixXd scores(const Part& part, const Eigen::VectorXd& parameters, int groups) const;

    const Unknowns& unknowns() const { return unknowns_; }
    std::size_t place_count() const { return places_.size(); }
    // Windows of the motion for each that is kept.
    double windows_per_place() const { return double(every_); }
    // In multiplications, about.
    double work_of_product() const { return work_per_place() * double(places_.size()); }
    long equation_count() const;

  private:
    struct Look {
        std::vector<float> unit;  // as members_ say
        Eigen::VectorXf needed;   // [particle][xyz]
    };
    struct Place {
        std::size_t fold, stretch;
        Look observed, noisier;
        std::vector<char> free;       // [particle]
        std::vector<Vec3d> position;  // mean over the window
        FactorPattern::Values factor;
    };
    // An element: its particles, and the unknowns and scales of its parameters.
    struct Member {
        Element type;
        std::size_t element, first;  // of its numbers in Look::unit: [kind][vector][xyz]
        int vectors;
        std::vector<ParticleShare> shares;
        std::vector<std::size_t> unknowns;
        std::vector<float> scales;
    };
    static constexpr double kWorkOfWeighing = 20;  // products with the matrix; seen, not counted
    double work_per_place() const { return 2 * double(numbers_) + 4 * double(pattern_->size()); }
    void list_members();
    Eigen::SparseMatrix<float> matrix_of(const Cloth& cloth, const Place& place) const;
    void add_places(const Scheme& scheme, std::size_t rollout, std::size_t& count);
    Place read_place(const BalancePair& rows, const Tracks& tracks, const TestFunction& test,
                     const Piece& piece, std::size_t place) const;
    Look look_at(const BalanceRows& rows, const BalanceRows* change, std::size_t place,
                 const std::vector<char>& free) const;
    const Look& look(const Part& part, const Place& place) const
    {
        return part.noisier ? place.noisier : place.observed;
    }
    void exert(const Look& look, const std::vector<char>& free, const Eigen::VectorXd& parameters,
               Eigen::VectorXf& forces) const;
    void pull_back(const Look& look, const std::vector<char>& free, const Eigen::VectorXf& forces,
                   Eigen::VectorXd& sums) const;
    // For z of random signs at every place, `add` adds what A^T W z says: its products have the
    // mean A^T W W A.
    template <class Sum, class Add>
    Sum probed(const Sum& zero, const Add& add) const;
    // Sums what `add` adds for every place of the part, in an order that does not depend on the
    // number of threads.
    template <class Sum, class Add>
    Sum sum_over(const Part& part, const Sum& zero, const Add& add) const;

    const BalanceReader& reader_;
    Work& work_;
    Cloth cloth_;
    Unknowns unknowns_;
    double inertia_;           // s [1/s^2]
    std::size_t numbers_ = 0;  // in Look::unit
    std::size_t every_ = 1;
    std::vector<Member> members_;
    std::vector<Place> places_;
    std::optional<FactorPattern> pattern_;
};

}  // namespace springtime
