// The first bytes of a connection to a listener with TLS.
#pragma once

#include <list>
#include <memory>

#include "net/http/server.h"

namespace paddock::net::http {

// Those under way, oldest first: a client that does not get on with it is the first to go when
// there are too many.
class Greetings {
 public:
  class Place {
   public:
    Place(Greetings& all, Stream& stream, size_t most);
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

   private:
    friend class Greetings;
    Greetings& all_;
    Stream& stream_;
    bool given_up_ = false;
  };

 private:
  void give_up_oldest();

  std::list<Place*> waiting_;
};

struct GreetingOptions {
  const Security& security;
  const Patience& patience;
  Greetings& under_way;
};
// The stream on which the client is served, after TLS's handshake. nullptr: there is nobody to be
// served; who spoke plain HTTP was answered.
std::shared_ptr<Stream> greet(Task& task, std::unique_ptr<Stream> raw,
                              const GreetingOptions& options);

}  // namespace paddock::net::http
