// The schema of paddock.db as a list of migrations; entry n brings version n to n + 1. Entries that
// were released are never edited, only followed.
#pragma once

#include <array>
#include <string_view>

namespace paddock::store {

inline constexpr std::array<std::string_view, 1> kMigrations{R"sql(
  CREATE TABLE sandbox (          -- journal of what the kernel may hold; engine/reconcile.cc
    id TEXT PRIMARY KEY,
    state TEXT NOT NULL,          -- creating, running, stopping
    level TEXT NOT NULL,
    view TEXT,                    -- the view its command runs in
    pid INTEGER NOT NULL DEFAULT 0,
    pid_start INTEGER NOT NULL DEFAULT 0,   -- field 22 of /proc/<pid>/stat, clock ticks since boot
    created_ms INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE view (             -- view/view_store.cc
    id TEXT PRIMARY KEY,
    workspace ANY NOT NULL,       -- bytes of the host path
    state TEXT NOT NULL,          -- open, ready, applied, discarded
    created_ms INTEGER NOT NULL,
    opened_ns INTEGER NOT NULL,   -- wall clock before the first command, for the base check
    trees TEXT NOT NULL,          -- JSON: the trees of the view and where they are on the host
    rules TEXT NOT NULL           -- JSON: hide patterns the view was opened with
  ) STRICT;
  CREATE INDEX view_by_workspace ON view (workspace, created_ms DESC);

  CREATE TABLE step (             -- one command in a view
    view TEXT NOT NULL REFERENCES view (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,      -- 1…
    argv TEXT NOT NULL,           -- JSON array, bytes as latin-1 escapes
    started_ms INTEGER NOT NULL,
    ended_ms INTEGER NOT NULL DEFAULT 0,
    undone INTEGER NOT NULL DEFAULT 0,
    decision TEXT NOT NULL DEFAULT '',
    outcome TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (view, number)
  ) STRICT, WITHOUT ROWID;
)sql"};

}  // namespace paddock::store
