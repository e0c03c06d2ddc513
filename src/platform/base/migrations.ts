/** Statements by which the database came to be, oldest first: new ones are added, those that are there stay. */
export const migrations: readonly string[] = [
  `
  create table organizations (id uuid primary key, name text not null unique, create_time timestamptz not null, webhook_secret text);
  create table projects (
    id uuid primary key, organization_id uuid not null references organizations, name text not null,
    create_time timestamptz not null, unique (organization_id, name));
  create table users (id uuid primary key, name text not null unique, key_digest text unique);
  create table memberships (
    user_id uuid not null references users, organization_id uuid not null references organizations,
    primary key (user_id, organization_id));
  create table rate_windows (scope text primary key, window_start timestamptz not null, count integer not null);

  create table queues (
    id uuid primary key, project_id uuid not null references projects, name text not null, display_name text not null,
    description text, create_time timestamptz not null, update_time timestamptz not null, unique (project_id, name));
  create table jobs (
    id uuid primary key, organization_id uuid not null references organizations, queue_id uuid, endpoint text,
    input text not null, metadata text, webhook text, status text not null, attempts integer not null default 0,
    output text, events jsonb not null, create_time timestamptz not null, update_time timestamptz not null,
    finish_time timestamptz);
  create index jobs_of_queue on jobs (queue_id, create_time desc, id desc) where queue_id is not null;
  create index jobs_of_endpoint on jobs (organization_id, endpoint, create_time desc, id desc) where endpoint is not null;
  create index open_jobs on jobs (queue_id) where finish_time is null;
  create index finished_jobs on jobs (finish_time) where finish_time is not null;
  create table webhook_messages (
    id text primary key, organization_id uuid not null references organizations, url text not null, body text not null,
    attempts integer not null default 0, next_attempt timestamptz not null, create_time timestamptz not null);
  create index due_messages on webhook_messages (next_attempt);

  create table container_groups (
    id uuid primary key, project_id uuid not null references projects,
    organization_id uuid not null references organizations, name text not null, definition jsonb not null, queue_id uuid,
    dns text unique, version integer not null default 1, status text not null, description text not null default '',
    pending_change boolean not null default true, preparing boolean not null default true,
    start_when_prepared boolean not null default false, ended integer not null default 0, ended_code integer,
    create_time timestamptz not null, update_time timestamptz not null,
    start_time timestamptz not null, finish_time timestamptz not null, deleted boolean not null default false);
  create unique index group_names on container_groups (project_id, name) where not deleted;
  create table instances (
    id uuid primary key, group_id uuid not null references container_groups on delete cascade, machine_id uuid not null,
    state text not null, version integer not null, started boolean not null default false,
    ready boolean not null default false, fresh boolean not null default true,
    deletion_cost integer not null default 0, port integer,
    create_time timestamptz not null, update_time timestamptz not null);
  create index instances_of_group on instances (group_id, create_time);
  create table node_exclusions (
    organization_id uuid not null, machine_id uuid not null, until timestamptz not null, reason text not null);

  create table files (
    organization_id uuid not null references organizations, path text not null, mime_type text not null,
    size bigint not null, etag text not null, blob text not null, uploaded timestamptz not null,
    primary key (organization_id, path));
  create table file_tokens (
    digest text primary key, organization_id uuid not null references organizations, path text not null,
    expires timestamptz not null);
  create table uploads (
    id uuid primary key, organization_id uuid not null references organizations, path text not null,
    create_time timestamptz not null);
  create table upload_parts (
    upload_id uuid not null references uploads on delete cascade, part_number integer not null, etag text not null,
    size bigint not null, blob text not null, primary key (upload_id, part_number));
  create index file_blobs on files (blob);
  create index part_blobs on upload_parts (blob);
  create index file_ages on files (uploaded);

  create table signing_keys (kid text primary key, private_jwk jsonb not null, create_time timestamptz not null);
  create table log_entries (
    id bigint generated always as identity primary key, organization_id uuid not null references organizations,
    time timestamptz not null, receive_time timestamptz not null, severity text not null, resource_type text not null,
    labels jsonb not null, text_log text, json_log jsonb);
  create index log_times on log_entries (organization_id, time desc);
  `,
  `
  drop index log_times;
  create index log_order on log_entries (organization_id, time desc, id desc);
  alter table log_entries add column resources jsonb;
  create index system_events on log_entries
    (organization_id, (labels ->> 'project_name'), (labels ->> 'container_group_name'), time desc, id desc)
    where resource_type <> 'container';
  `,
  `
  alter table container_groups add column image_hash text;
  alter table container_groups add column image_size bigint;
  `,
]
