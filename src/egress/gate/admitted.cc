#include "egress/gate/admitted.h"

#include <fmt/core.h>

#include "sys/clock.h"

namespace paddock::egress {
namespace {

// Whether the rules that hold now would let the request through, too. Asked with each run of bytes:
// a WebSocket lives long.
class StillAllowed {
 public:
  explicit StillAllowed(const Admission& admission)
      : admission_(admission), policy_(admission.policy) {}

  Status check() {
    const SandboxRules rules = admission_.connection.sandbox->rules();
    if (rules.policy == policy_) return {};
    Seen seen = admission_.connection.seen;
    seen.request = &admission_.asked;
    seen.git = admission_.git ? &*admission_.git : nullptr;
    if (rules.policy->decide(admission_.connection.target, seen).answer != Answer::allow) {
      return Error(Code::permission_denied, "the rules have changed and do not allow it any more");
    }
    policy_ = rules.policy;
    return {};
  }

 private:
  const Admission& admission_;
  std::shared_ptr<const Policy> policy_;
};

// From the sandbox: counted, looked through for placeholders, its chunks signed.
class RequestBody : public http::BodyFilter {
 public:
  RequestBody(Admission& admission, StillAllowed& allowed)
      : credentials_(admission.credentials),
        metering_(admission.metering),
        event_(admission.event),
        allowed_(allowed) {
    std::optional<SigV4Signature> seed = std::move(admission.chunk_seed);
    if (credentials_ != nullptr) scanner_.emplace(credentials_->placeholders(), OnFound::stop);
    if (seed) signer_.emplace(std::move(*seed));
  }

  Status feed(std::string_view bytes, std::string& out) override {
    PD_TRY(allowed_.check());
    event_.request_bytes += bytes.size();
    PD_TRY(metering_.add_request(bytes.size()));
    if (!scanner_) return pass(bytes, out);
    std::string clean;
    const auto found = scanner_->feed(bytes, clean);
    if (found) return credentials_->stray(*found);
    return pass(clean, out);
  }

  Status finish(std::string& out) override {
    if (!scanner_) return {};
    std::string clean;
    scanner_->finish(clean);
    return pass(clean, out);
  }

  Status see_trailers(http::Fields& trailers) override {
    return credentials_ == nullptr ? Status() : credentials_->check_strays(trailers);
  }

 private:
  Status pass(std::string_view bytes, std::string& out) {
    if (signer_) return signer_->feed(bytes, out);
    out += bytes;
    return {};
  }

  std::shared_ptr<const CredentialSet> credentials_;
  Metering& metering_;
  model::EgressEvent& event_;
  StillAllowed& allowed_;
  std::optional<Scanner> scanner_;
  std::optional<AwsChunkSigner> signer_;
};

// To the sandbox: counted, secrets masked.
class ResponseBody : public http::BodyFilter {
 public:
  ResponseBody(Admission& admission, StillAllowed& allowed)
      : secrets_(admission.masks ? admission.credentials->secrets() : nullptr),
        metering_(admission.metering),
        event_(admission.event),
        allowed_(allowed) {
    if (secrets_ != nullptr) scanner_.emplace(secrets_, OnFound::mask);
  }

  Status feed(std::string_view bytes, std::string& out) override {
    PD_TRY(allowed_.check());
    event_.response_bytes += bytes.size();
    PD_TRY(metering_.add_response(bytes.size()));
    if (scanner_) {
      scanner_->feed(bytes, out);
    } else {
      out += bytes;
    }
    return {};
  }

  Status finish(std::string& out) override {
    if (scanner_) scanner_->finish(out);
    return {};
  }

  Status see_trailers(http::Fields& trailers) override {
    mask(trailers);
    return {};
  }

  void mask(http::Fields& fields) const {
    if (secrets_ == nullptr) return;
    for (http::Field& field : fields) field.value = Scanner::mask(secrets_, field.value);
  }

 private:
  std::shared_ptr<const PatternSet> secrets_;
  Metering& metering_;
  model::EgressEvent& event_;
  StillAllowed& allowed_;
  std::optional<Scanner> scanner_;
};

class Admitted : public http::AdmittedRequest {
 public:
  explicit Admitted(Admission admission)
      : admission_(std::move(admission)),
        began_(sys::monotonic_us()),
        allowed_(admission_),
        request_(admission_, allowed_),
        response_(admission_, allowed_) {}

  http::BodyFilter& request_body() override { return request_; }
  http::BodyFilter& response_body() override { return response_; }

  Status see_response(http::Response& response) override {
    admission_.event.status = response.status;
    const auto* coding = http::find_field(response.fields, "content-encoding");
    // What is compressed cannot be looked through for the secret that this request carried.
    if (admission_.injected && coding != nullptr && coding->value != "identity" &&
        coding->value != "aws-chunked") {
      return Error(
          Code::unsupported,
          fmt::format("the response is compressed ({}) although plain text was asked for, so "
                      "the credential in it could not be masked",
                      coding->value));
    }
    response_.mask(response.fields);
    return {};
  }

  void ended(const Status& status) override {
    model::EgressEvent& event = admission_.event;
    event.duration_us = static_cast<uint64_t>(sys::monotonic_us() - began_);
    event.address = admission_.connection.address;
    if (!status.ok()) note_error(event, Status(status).error());
    if (admission_.connection.sink) admission_.connection.sink(event);
  }

 private:
  Admission admission_;
  int64_t began_;
  StillAllowed allowed_;
  RequestBody request_;
  ResponseBody response_;
};

}  // namespace

std::unique_ptr<http::AdmittedRequest> admit(Admission admission) {
  return std::make_unique<Admitted>(std::move(admission));
}

}  // namespace paddock::egress
