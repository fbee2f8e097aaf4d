// The schema of paddock.db as a list of migrations; entry n brings version n to n + 1. Entries that
// were released are never edited, only followed.
#pragma once

#include <array>
#include <string_view>

namespace paddock::store {

inline constexpr std::array<std::string_view, 11> kMigrations{
    R"sql(
  CREATE TABLE sandbox (          -- journal of what the kernel may hold; engine/reconcile.cc
    id TEXT PRIMARY KEY,
    state TEXT NOT NULL,          -- creating, running, stopping
    level TEXT NOT NULL,
    view TEXT,                    -- the view its command runs in
    pid INTEGER NOT NULL DEFAULT 0,
    pid_start INTEGER NOT NULL DEFAULT 0,   -- field 22 of /proc/<pid>/stat, clock ticks since boot
    created_ms INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE view (             -- view/catalog.cc
    id TEXT PRIMARY KEY,
    workspace ANY NOT NULL,       -- bytes of the canonical host path
    state TEXT NOT NULL,          -- open, ready, applied, discarded
    created_ms INTEGER NOT NULL,
    trees TEXT NOT NULL,          -- JSON: host directories that the view covers, git directories
    rules TEXT NOT NULL,          -- JSON: patterns that the view was opened with
    bytes INTEGER NOT NULL DEFAULT 0        -- on disk when its last command ended
  ) STRICT;
  CREATE INDEX view_by_workspace ON view (workspace, created_ms DESC);

  CREATE TABLE step (             -- one command in a view
    view TEXT NOT NULL REFERENCES view (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,      -- 1…
    argv TEXT NOT NULL,           -- JSON
    started_ms INTEGER NOT NULL,
    ended_ms INTEGER NOT NULL DEFAULT 0,    -- 0: running or interrupted
    opened_ns INTEGER NOT NULL,   -- wall clock before its command, for the base check
    undone INTEGER NOT NULL DEFAULT 0,
    decision TEXT NOT NULL DEFAULT '',
    outcome TEXT NOT NULL DEFAULT '',
    sealed INTEGER NOT NULL DEFAULT 0,      -- its uppers are layers: nobody writes to them any more
    layers INTEGER NOT NULL DEFAULT 0,      -- bit k: the step changed tree k and has a layer for it
    PRIMARY KEY (view, number)
  ) STRICT, WITHOUT ROWID;
)sql",
    // What the step's command asked of the gate (model/network_record.h).
    "ALTER TABLE step ADD COLUMN network TEXT NOT NULL DEFAULT ''",
    R"sql(
  CREATE TABLE live_sandbox (     -- engine/live/catalogue.cc
    id TEXT PRIMARY KEY,
    template TEXT NOT NULL,
    state TEXT NOT NULL,          -- engine/live/states.h
    reason TEXT NOT NULL DEFAULT '',        -- of its end
    created_ms INTEGER NOT NULL,
    deadline_ms INTEGER NOT NULL,
    ended_ms INTEGER NOT NULL DEFAULT 0,    -- 0: it has not
    metadata TEXT NOT NULL        -- JSON object of texts, its maker's
  ) STRICT;
)sql",
    R"sql(
  CREATE TABLE api_key (          -- service/keys.cc
    id TEXT PRIMARY KEY,
    label TEXT NOT NULL,
    scope TEXT NOT NULL,          -- sandboxes, metrics
    hash TEXT NOT NULL UNIQUE,    -- of the secret
    created_ms INTEGER NOT NULL,
    revoked_ms INTEGER NOT NULL DEFAULT 0   -- 0: it is good
  ) STRICT;
  ALTER TABLE live_sandbox ADD COLUMN owner TEXT NOT NULL DEFAULT '';  -- id of a key; '': the keeper
)sql",
    R"sql(
  CREATE TABLE key_usage (        -- service/usage.cc
    key TEXT NOT NULL,            -- id; '': without one
    day TEXT NOT NULL,            -- UTC, 2026-11-30
    sandboxes INTEGER NOT NULL,   -- that ended
    sandbox_ms INTEGER NOT NULL,
    cpu_us INTEGER NOT NULL,
    received_bytes INTEGER NOT NULL,
    sent_bytes INTEGER NOT NULL,
    PRIMARY KEY (key, day)
  ) STRICT, WITHOUT ROWID;
)sql",
    R"sql(
  CREATE TABLE live_record (      -- engine/live/live_record.cc: of sandboxes that outlive their daemon
    id TEXT PRIMARY KEY,
    setup TEXT NOT NULL           -- JSON
  ) STRICT;
)sql",
    R"sql(
  CREATE TABLE layer (            -- engine/live/layers.cc: what sandboxes wrote, one over the other
    id TEXT PRIMARY KEY,          -- directory PADDOCK_HOME/layers/<id>
    parent TEXT NOT NULL,         -- the layer below; '': the template
    created_ms INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE snapshot (         -- engine/live/snapshot_table.cc
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    owner TEXT NOT NULL,          -- id of a key; '': the keeper
    sandbox TEXT NOT NULL,        -- it was made of
    template TEXT NOT NULL,       -- at the bottom of its layers
    layer TEXT NOT NULL,
    guarantee TEXT NOT NULL,      -- quiesced, crash-consistent
    created_ms INTEGER NOT NULL
  ) STRICT;
  ALTER TABLE live_sandbox ADD COLUMN layer TEXT NOT NULL DEFAULT '';  -- its top one
  ALTER TABLE live_sandbox ADD COLUMN kept TEXT NOT NULL DEFAULT 'memory';  -- of a paused one
)sql",
    R"sql(
  CREATE TABLE directory_template (         -- engine/live/directory_templates.cc
    name TEXT PRIMARY KEY,
    directory ANY NOT NULL,       -- bytes of the canonical host path
    created_ms INTEGER NOT NULL
  ) STRICT;
)sql",
    // The view of its workspace; '': it has none.
    "ALTER TABLE live_sandbox ADD COLUMN view TEXT NOT NULL DEFAULT ''",
    R"sql(
  CREATE TABLE built_template (   -- engine/live/builds/build_table.cc: what clients build
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,           -- without a tag
    owner TEXT NOT NULL,          -- id of a key; '': the keeper
    created_ms INTEGER NOT NULL,
    UNIQUE (owner, name)
  ) STRICT;
  CREATE TABLE template_build (
    id TEXT PRIMARY KEY,          -- a UUID
    template TEXT NOT NULL,
    state TEXT NOT NULL,          -- waiting, building, ready, error
    reason TEXT NOT NULL DEFAULT '',        -- of an error
    step TEXT NOT NULL DEFAULT '',          -- where that was
    base_template TEXT NOT NULL DEFAULT '', -- of a ready one: at the bottom of its layers
    layer TEXT NOT NULL DEFAULT '',
    created_ms INTEGER NOT NULL,
    finished_ms INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX template_build_by_template ON template_build (template, created_ms DESC);
  CREATE TABLE template_tag (
    template TEXT NOT NULL,
    tag TEXT NOT NULL,
    build TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    PRIMARY KEY (template, tag)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE build_step (       -- what a step led to
    key TEXT PRIMARY KEY,         -- follows from all that the step follows from
    base_template TEXT NOT NULL,
    layer TEXT NOT NULL,          -- '': nothing is written over the base
    settings TEXT NOT NULL,       -- engine/live/template_settings.h
    used_ms INTEGER NOT NULL
  ) STRICT;
  ALTER TABLE layer ADD COLUMN settings TEXT NOT NULL DEFAULT '';  -- of sandboxes made over it
)sql",
    R"sql(
  CREATE TABLE ended_run (        -- engine/live/run_table.cc: detached runs that have ended
    sandbox TEXT PRIMARY KEY,
    owner TEXT NOT NULL,          -- id of a key; '': the keeper
    by_socket INTEGER NOT NULL,   -- 1: for who comes by the socket alone
    argv TEXT NOT NULL,           -- JSON, each word in base64
    outcome TEXT NOT NULL,        -- JSON
    output TEXT NOT NULL,         -- the latest, as lines of JSON
    ended_ms INTEGER NOT NULL
  ) STRICT;
)sql"};

}  // namespace paddock::store
