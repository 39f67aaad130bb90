// Rows a second of dlib's krls on a stream of `cargo xtask bench-report`, as speed.py says.
// Built by `cargo xtask bench-report` with dlib's own loops, and with OpenBLAS (PEER_OPENBLAS).

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

// Packages of dlib settle this, and not always in the same way.
#include <dlib/assert.h>
#include <dlib/test_for_odr_violations.h>
#undef DLIB_USE_BLAS
#undef DLIB_USE_LAPACK
#ifdef PEER_OPENBLAS
#define DLIB_USE_BLAS
// The names that the package scipy-openblas32 gives to what dlib calls.
#define cblas_daxpy scipy_cblas_daxpy
#define cblas_ddot scipy_cblas_ddot
#define cblas_dgemm scipy_cblas_dgemm
#define cblas_dgemv scipy_cblas_dgemv
#define cblas_dger scipy_cblas_dger
#define cblas_dscal scipy_cblas_dscal
extern "C" char* scipy_openblas_get_config();
#endif
#include <dlib/revision.h>
#include <dlib/svm.h>

using Sample = dlib::matrix<double, 10, 1>;
using Clock = std::chrono::steady_clock;

int main(int count, char** words) {
    const std::string task = count > 1 ? words[1] : "";
    if (task == "version") {
        std::printf("%d.%d", DLIB_MAJOR_VERSION, DLIB_MINOR_VERSION);
#ifdef PEER_OPENBLAS
        const std::string config = scipy_openblas_get_config();
        std::printf(", %s", config.substr(0, config.find(' ', sizeof "OpenBLAS")).c_str());
#endif
        return 0;
    }
    if (count < 3 || (task != "krls" && task != "krls-predict")) return std::puts("none"), 0;
    std::ifstream file(words[2], std::ios::binary);
    double head[3];
    file.read(reinterpret_cast<char*>(head), sizeof head);
    std::vector<std::pair<Sample, double>> rows(static_cast<size_t>(head[0] + head[1]));
    for (auto& [x, y] : rows) {
        file.read(reinterpret_cast<char*>(&x(0)), 10 * sizeof(double));
        file.read(reinterpret_cast<char*>(&y), sizeof(double));
    }
    const size_t size = static_cast<size_t>(head[0]), batch = 64;
    using Kernel = dlib::radial_basis_kernel<Sample>;
    dlib::krls<Kernel> learner(Kernel(0.5), 0.01, size);
    for (size_t i = 0; i < size; ++i) learner.train(rows[i].first, rows[i].second);
    double best = 1e300, sum = 0;
    const auto start = Clock::now();
    const auto seconds = [](Clock::duration taken) { return std::chrono::duration<double>(taken).count(); };
    while (seconds(Clock::now() - start) < 1.0)
        for (size_t first = size; first + batch <= rows.size(); first += batch) {
            const auto clock = Clock::now();
            for (size_t i = first; i < first + batch; ++i) {
                sum += learner(rows[i].first);
                if (task == "krls") learner.train(rows[i].first, rows[i].second);
            }
            best = std::min(best, seconds(Clock::now() - clock));
        }
    // The sum is used, so that no prediction is left out.
    std::printf("%.1f\n", sum == sum ? batch / best : 0.0);
}
