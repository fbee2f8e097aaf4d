# Third-party libraries, all Debian 12 packages (tools/packages/build.txt), linked statically so that
# only libc is left to the dynamic linker. Each is one INTERFACE target named dep::<name>.
find_package(Threads REQUIRED)
find_package(Protobuf REQUIRED)

function(paddock_static_dependency name)
  cmake_parse_arguments(ARG "" "" "ARCHIVES;DEFINES" ${ARGN})
  add_library(dep_${name} INTERFACE)
  foreach(archive IN LISTS ARG_ARCHIVES)
    find_library(PADDOCK_ARCHIVE_${archive} NAMES lib${archive}.a REQUIRED)
    target_link_libraries(dep_${name} INTERFACE ${PADDOCK_ARCHIVE_${archive}})
  endforeach()
  target_compile_definitions(dep_${name} INTERFACE ${ARG_DEFINES})
  add_library(dep::${name} ALIAS dep_${name})
endfunction()

paddock_static_dependency(fmt)  # instantiated by base/fmt_instantiations.cc
paddock_static_dependency(json ARCHIVES boost_json boost_container
                          DEFINES BOOST_JSON_NO_LIB BOOST_CONTAINER_NO_LIB)
paddock_static_dependency(sqlite ARCHIVES sqlite3)
paddock_static_dependency(crypto ARCHIVES crypto)
paddock_static_dependency(tls ARCHIVES ssl crypto)
paddock_static_dependency(seccomp ARCHIVES seccomp)
paddock_static_dependency(protobuf ARCHIVES protobuf-lite)
target_link_libraries(dep_protobuf INTERFACE Threads::Threads)
paddock_static_dependency(toml)
paddock_static_dependency(context ARCHIVES boost_context)  # stacks of coroutines; Asio is headers
paddock_static_dependency(nghttp2 ARCHIVES nghttp2)
paddock_static_dependency(zlib ARCHIVES z)
paddock_static_dependency(psl ARCHIVES psl idn2 unistring)
paddock_static_dependency(cli11)

find_library(PADDOCK_GTEST NAMES libgtest.a REQUIRED)
find_library(PADDOCK_GTEST_MAIN NAMES libgtest_main.a REQUIRED)
find_library(PADDOCK_GMOCK NAMES libgmock.a REQUIRED)
