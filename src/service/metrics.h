// Numbers about the server, in Prometheus' text form (exposition format 0.0.4).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::service {

enum class MetricKind { counter, gauge, histogram };

// One family of samples; a constant of whoever counts. Histograms are of seconds.
struct Metric {
  std::string_view name;
  MetricKind kind = MetricKind::counter;
  std::string_view help;
};

// Values are chosen by us and few: never a client's text.
using Labels = std::vector<std::pair<std::string_view, std::string>>;

// Used by one thread.
class Metrics {
 public:
  void add(const Metric& metric, const Labels& labels, double by = 1);
  void set(const Metric& metric, const Labels& labels, double value);
  void observe(const Metric& metric, const Labels& labels, double seconds);

  // Families by name, samples by label.
  std::string text() const;

 private:
  struct Histogram {
    std::vector<uint64_t> buckets;
    double sum = 0;
    uint64_t count = 0;
  };
  struct Family {
    Metric metric;
    std::map<std::string, double> values;  // by the text of their labels
    std::map<std::string, Histogram> histograms;
  };
  Family& family(const Metric& metric);

  std::map<std::string_view, Family> families_;
};

// Upper bounds in seconds, from a command to a long life.
std::span<const double> metric_buckets();

}  // namespace paddock::service
