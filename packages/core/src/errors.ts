/**
 * One class, one table. A row is all there is to know about an error: what a caller over HTTP sees, how a command
 * exits, what a person reads, what to do next, and whether the same act may succeed when repeated.
 */

export interface ErrorRow {
  /** HTTP status. */
  readonly status: number;
  /** Exit code of a command (design 8): 1 failed, 2 usage or configuration, 3 blocked. */
  readonly exit: 1 | 2 | 3;
  /** What everyone may read. Never holds input. */
  readonly text: string;
  /** What to do next. */
  readonly hint: string;
  readonly retryable: boolean;
}

/** `[status, exit, text, hint, 'retry'?]`: what may succeed when the same act is simply repeated ends in `'retry'`. */
// biome-ignore format: one row, one line
const rows = {
  // --- Requests
  unauthenticated: [401, 1, 'node token invalid', 'Check that the host is on the roll and holds a live credential.'],
  host_mismatch: [403, 1, 'The request names another host than the one that was verified.', 'Send the id of the authenticated host, or none.'],
  not_found: [404, 1, 'There is no such route or object.', 'Check the name, and the address: operators have another than hosts.'],
  malformed_request: [400, 2, 'The request is not what this route takes.', 'Compare the body with docs/PROTOCOL.md.'],
  unsupported_media_type: [415, 2, 'The body must be application/json.', 'Send Content-Type: application/json.'],
  too_large: [413, 2, 'The request is larger than this route takes.', 'See the limits in docs/PROTOCOL.md.'],
  too_many_requests: [429, 1, 'Too many requests.', 'Wait as long as Retry-After says.', 'retry'],
  unavailable: [503, 1, 'The hub cannot answer this safely at the moment.', 'Nothing was changed. Try again; see `rollcall hub status`.', 'retry'],
  internal: [500, 1, 'Something went wrong inside Rollcall.', 'The log of the process has the detail under the same request id.', 'retry'],

  // --- Values
  malformed_json: [400, 2, 'This is not JSON as it is taken here.', 'One document, no duplicate keys, numbers are whole and below 2^53.'],
  malformed_host_id: [400, 2, 'This is not a host id.', 'Use 1 to 128 characters of A-Z a-z 0-9 . _ -, a letter or digit first and last.'],
  malformed_member: [400, 2, 'This is not a member.', 'Use a host id, `all` for every host, or caller:NAME for a caller that is no host.'],
  malformed_secret_name: [400, 2, 'This is not the name of a secret.', 'Use 1 to 64 characters of a-z 0-9 -.'],
  malformed_rung: [400, 2, 'This is not a rung.', 'Use fleet-token, host-token or derived.'],
  malformed_token: [400, 2, 'This is not a token of the expected kind.', 'Check that it was copied whole: the checksum at its end does not fit, or its prefix is another.'],
  malformed_key: [400, 2, 'This is not a usable key.', 'It must be 32 bytes, canonical, and not of low order.'],
  malformed_time: [400, 2, 'This is not a time.', 'Use RFC 3339 in UTC (2026-01-31T14:00:00Z) or a duration (90s, 10m, 24h, 7d).'],
  malformed_file: [400, 2, 'The file is not what is expected there.', 'Compare it with what `rollcall hub status` prints, or make it again.'],
  byte_order_mark: [400, 2, 'The file begins with a UTF-8 byte-order mark.', 'Save it as plain UTF-8 without a mark.'],
  weak_secret: [400, 2, 'The value is too short to be a secret.', 'A master has at least 32 bytes: `openssl rand -base64 48`.'],

  // --- Seal (design 4)
  open_failed: [400, 1, 'This does not open with this key and this context.', 'Look for another recipient, another version, or a changed byte.'],
  bad_signature: [400, 1, 'The signature does not verify.', 'Look for a changed byte, or another signer.'],
  unknown_hub_key: [400, 1, 'The hub key is not signed by the pinned hub root, or older than one already seen.', 'Compare the hub root of this host with `rollcall hub status`.'],
  delivery_malformed: [400, 1, 'The delivery is not an envelope of this protocol.', 'Compare it with docs/PROTOCOL.md.'],
  delivery_other_host: [400, 1, 'The delivery is for another host.', 'Nothing was applied. Look at what lies between hub and host.'],
  delivery_unknown_recipient: [400, 1, 'The delivery is sealed to a key that this host does not hold.', 'Compare `rollcall pin show` with `rollcall agent status`.'],
  delivery_replayed: [400, 1, 'The delivery is older than what this host holds.', 'Nothing was applied. A hub that was started from an old backup says less than its hosts hold: see SECURITY.md, When the hub is lost.'],
  delivery_unknown_hub_key: [400, 1, 'The delivery is signed by a hub key that the pinned hub root does not vouch for.', 'Compare the hub root of this host with `rollcall hub status`.'],
  delivery_bad_signature: [400, 1, 'The signature of the delivery does not verify.', 'Nothing was applied. Look at what lies between hub and host.'],
  delivery_unopenable: [400, 1, 'The delivery does not open for this host, secret and version.', 'Nothing was applied. Look at what lies between hub and host.'],
  delivery_contradicts: [400, 1, 'What was sealed contradicts its envelope.', 'Nothing was applied. Compare the versions of hub and agent.'],
  statement_malformed: [400, 1, 'This is not a signed statement of this protocol.', 'Compare it with docs/PROTOCOL.md.'],
  challenge_malformed: [400, 1, 'This is not a challenge of this protocol.', 'Compare it with docs/PROTOCOL.md.'],
  challenge_unopenable: [400, 1, 'The challenge does not open for this host and purpose.', 'Compare `rollcall pin show` with `rollcall agent status`.'],

  // --- Certificates (design 6)
  malformed_certificate: [400, 2, 'This is not a certificate as it is taken here.', 'One X.509 v3 certificate in DER, without doubled or unknown critical extensions.'],
  malformed_certificate_request: [400, 2, 'This is not a certificate request as it is taken here.', 'One PKCS #10 request in DER, signed with ECDSA by its own key, without attributes but requested extensions.'],
  malformed_spiffe_id: [400, 2, 'This is not a SPIFFE id of this trust domain.', 'Use spiffe://<trust domain>/<path> in lower-case domain letters; see the SPIFFE ID specification.'],
  unusable_subject_key: [400, 2, 'A certificate is issued for a P-256 or P-384 key only.', 'Make a new key: `openssl ecparam -name prime256v1 -genkey`.'],
  unusable_authority: [503, 3, 'The authority cannot issue at this time.', 'Its certificate has expired, is not valid yet, or belongs to another key; see `rollcall hub status`.'],
  listener_unreachable: [503, 1, 'The listener of the host cannot be reached.', 'Does its agent listen at the address that `rollcall host show HOST` names?', 'retry'],
  listener_timeout: [504, 1, 'The listener of the host did not answer in time.', 'Look at the network to the host, and at its load.', 'retry'],
  listener_answer_unusable: [502, 1, 'The listener of the host answered in a way that is not understood.', 'Is it the listener of an agent? Compare its version with that of the hub.'],
  listener_untrusted: [502, 1, 'The peer did not prove that it is the listener of that host.', 'details.reason says which rule failed. Nothing was sent to it.'],
  host_clock_wrong: [409, 3, 'The clock of the host would reject the certificate, so none was issued.', 'Set the clock of the host right; it asks again by itself.', 'retry'],
  hub_untrusted: [502, 1, 'The peer did not prove that it is the hub.', 'details.reason says which rule failed. Nothing was sent to it.'],

  // --- Command line (design 8). A detail named `hint` replaces the hint of the row.
  usage: [400, 2, 'The command line is not understood.', 'See --help.'],
  confirmation_required: [400, 2, 'This cannot be undone, and there is no terminal to ask on.', 'Repeat it with --yes.'],
  not_confirmed: [400, 1, 'The answer was not yes.', 'Nothing was changed.'],
  hub_address_unsupported: [400, 2, 'A hub is not spoken to without TLS.', 'Use --hub unix:PATH on the hub itself, or --hub https://HOST:PORT with --token-file and --hub-root-file.'],
  hub_unreachable: [503, 1, 'The hub cannot be reached.', 'Check its address, and the network and firewalls in between; on its own machine `rollcall hub status` says whether it runs.', 'retry'],
  hub_no_answer: [504, 1, 'The hub took the request and did not answer.', 'It may have been carried out: look before you repeat it.'],
  hub_answer_unusable: [502, 1, 'The hub answered in a way that this command does not understand.', 'Compare `rollcall --version` with the version of the hub; is the socket the one of a hub?'],
  hub_refused: [502, 1, 'The hub refused.', 'Compare `rollcall --version` with the version of the hub.'],
  package_missing: [500, 2, 'A part of Rollcall is not installed here.', 'Install the package named in details.'],
  file_unreadable: [400, 2, 'A file cannot be read.', 'Check its path, owner and mode.'],
  host_file_invalid: [400, 2, 'The file is not a list of hosts.', 'Mend what is listed, each with its place; nothing was sent to the hub.'],
  import_refused: [409, 1, 'Rows were refused, so no host was added.', 'Mend the rows that are marked, then import the file again.'],
  operator_refused: [401, 1, 'The hub does not know this operator token.', 'It was replaced or removed, or belongs to another hub. An admin issues another: `rollcall operator rotate-token NAME`.'],
  watch_ended: [409, 3, 'The rotation has not come as far as it was to be watched.', 'See `rollcall rotation status`.'],

  // --- Agent: its state on disk, its start, its hub (design 4, 11). A detail named `hint` replaces the hint of the row.
  state_loose_mode: [500, 2, 'Others may read the state directory or a file in it.', 'Run the command that stands under `fix`.'],
  state_wrong_owner: [500, 2, 'The state directory or a file in it belongs to another user.', 'Start the agent as its owner, or run the command that stands under `fix`.'],
  state_unreadable: [500, 1, 'The state of this agent cannot be read. Nothing was changed.', 'Mend what stands under `cause`. Do not remove the file: the identity of this host is in it.'],
  state_torn: [500, 1, 'The state of this agent is damaged. Nothing was changed, and no new identity was made.', 'Restore the state directory from a copy; without one, move it away and use `rollcall host reenrol HOST` on the hub.'],
  state_too_new: [500, 2, 'A newer version of the agent wrote this state.', 'Start that version, or a later one.'],
  state_locked: [409, 2, 'Another agent runs on this state directory.', 'See `rollcall agent status --state DIR`; stop that one first.'],
  state_unwritable: [500, 1, 'The state of this agent cannot be written. What was in force stays in force.', 'Check the disk and the mount that hold the state directory; the agent tries again by itself.', 'retry'],
  disk_full: [507, 1, 'The disk that holds the state directory is full. What was in force stays in force.', 'Make room; the agent goes on by itself.', 'retry'],
  socket_path_too_long: [400, 2, 'The path of a socket in the state directory is too long for this system.', 'Use a state directory with a shorter path.'],
  identity_missing: [400, 2, 'This host has no identity yet.', 'Start with --enrol FILE, or with --hub URL --host ID --hub-root-file F --master-file F.'],
  certificate_refused: [401, 1, 'The hub refused a certificate for the listener of this host.', 'The hub must hold the key of this host as its pin: compare `rollcall agent status` here with `rollcall pin show HOST` there. A pin of first use has to be confirmed first.'],
  identity_contradiction: [409, 2, 'What was given contradicts the identity in the state directory.', 'Leave the flag away to keep that identity, or use another state directory.'],
  malformed_hub_address: [400, 2, 'This is not the address of a hub.', 'Use https://NAME:PORT, without a path.'],
  enrolment_refused: [401, 1, 'The hub refused the enrolment token.', 'It is spent, expired or was replaced. Issue another: `rollcall host reenrol HOST` on the hub.'],
  enrolment_already_redeemed: [409, 1, 'This enrolment token was redeemed before; the identity it gave is used.', 'Remove the token from the configuration.'],
  commands_refused: [502, 1, 'The listener of the host takes no command of this hub.', 'It may have applied no master yet, or lack the statement that confirms it: `rollcall agent status` there.', 'retry'],
  hub_timeout: [504, 1, 'The hub did not answer in time.', 'Check the network to the hub, and its load.', 'retry'],
  pin_missing: [409, 3, 'The hub has taken no key of this host, so nothing can be delivered to it.', 'On the hub: `rollcall host reenrol HOST`, or accept first use for it.'],
  pin_contested: [409, 3, 'The hub holds another key for this host than the one it publishes.', 'Compare `rollcall agent status` here with `rollcall pin show HOST` on the hub; approve there, or re-enrol.'],
  pin_unusable: [409, 3, 'The hub cannot use the key that this host publishes.', 'Move the state directory away and re-enrol: `rollcall host reenrol HOST` on the hub.'],
  listener_no_credential: [409, 3, 'A listener is configured and stays closed: this host holds nothing that it could demand of a caller.', 'It opens by itself once the hub has delivered something to this host: see `rollcall agent status`.'],
  listener_no_certificate: [409, 3, 'A listener is configured and stays closed: it has no certificate.', 'It opens by itself once the hub has issued one for this host: enrol it, or see `rollcall agent status`.'],
  listener_certificate_expired: [409, 3, 'A listener is configured and stays closed: its certificate has expired, or is not valid yet.', 'The agent asks for another one by itself: see whether it reaches its hub.'],
  listener_unconfirmed: [409, 3, 'A listener is configured and stays closed: the hub has not confirmed lately that what this host holds is in force.', 'It opens by itself with the next answer of the hub: see whether the agent reaches it.'],
  listener_not_configured: [409, 3, 'This agent has no listener on the network.', 'Start it with --listen HOST:PORT, where its callers can reach it.'],
  probe_failed: [409, 3, 'The listener of this host does not do what the host was told.', 'Is it this agent that listens there? Compare with `rollcall agent status`.'],
  token_file_loose_mode: [500, 2, 'Others may read a file with a token.', 'Mend it with: chmod 600 FILE'],
  agent_not_running: [503, 1, 'No agent answers on this state directory.', 'Start it: `rollcall agent start --state DIR`.', 'retry'],

  // --- Sinks of an agent (design 4)
  sink_in_the_way: [409, 3, 'Something that the agent did not make lies at the path of a sink. It was left as it is.', 'Move it away, or give the sink another path; the agent writes within a minute.'],
  sink_drifted: [409, 3, 'What lies at the path of a sink is not what the agent wrote. It was left as it is.', 'Find out who changed it. Remove the link, and the agent writes anew within a minute; else it does when the token changes.'],
  sink_dropped: [409, 3, 'This host holds the token of a sink no more. Its files were taken away.', 'Take the sink out of the configuration, or give the token back: `rollcall secret hold NAME HOST` on the hub.'],
  sink_parent_missing: [500, 1, 'The directory in which a sink is to lie does not exist.', 'Make it; the agent writes by itself within a minute.', 'retry'],
  sink_parent_unsafe: [500, 2, 'Others may change the directory in which a sink is to lie.', 'It must belong to root or to the user of the agent, and nobody else may write in it: chown and chmod go-w.'],
  sink_unwritable: [500, 1, 'A sink cannot be read or written. What lies there was left as it is.', 'Check the mount, and whether the user of the agent may write there; the agent tries again by itself.', 'retry'],
  sink_disk_full: [507, 1, 'The disk on which a sink lies is full. What lies there was left as it is.', 'Make room; the agent goes on by itself.', 'retry'],
  sink_owner_unknown: [500, 2, 'The owner or group of a sink is not known on this host.', 'Make the account, or correct owner and group in the configuration of the agent.', 'retry'],
  sink_owner_refused: [500, 2, 'The agent may not give its files to the owner or group of a sink.', 'Run the agent as root, or as a member of the group; or leave owner and group away.', 'retry'],
  sink_value_unusable: [500, 1, 'The token is none that stands on one line, so no file was written.', 'Rotate it to one of 22 to 512 visible ASCII characters.'],
  sink_record_unusable: [500, 1, 'What the agent remembers of its sinks cannot be read or written, so nothing was written.', 'Check the disk that holds the state directory. If `sinks.json` in it is damaged, remove it and restart the agent: it then writes each sink anew.'],
  sink_pid_file_unusable: [500, 1, 'The pid file of a sink is not there, holds no pid of a program, or may be written by others. Nothing was signalled.', 'Is the program running, and is this its pid file? Only its owner may write it.', 'retry'],
  sink_process_absent: [500, 1, 'The pid file of a sink names no living process. Nothing was signalled.', 'Start the program; the agent tries again by itself.', 'retry'],
  sink_process_foreign: [500, 1, 'The pid file of a sink names a process of another user than the owner of the file. Nothing was signalled.', 'Remove a stale pid file. For a program that drops its rights, name the user it runs as as `owner` of the sink.', 'retry'],
  sink_reload_failed: [500, 1, 'The program of a sink could not be told to read it again.', 'Run by hand what stands under reload_unit or reload_command; the agent tries again by itself.', 'retry'],
  sink_reload_timeout: [500, 1, 'The reload of a sink did not end in time and was ended.', 'Find out what it waits for, or raise reload_timeout; the agent tries again by itself.', 'retry'],

  // --- Pins (design 3)
  malformed_fingerprint: [400, 2, 'This is not a whole fingerprint.', 'Give all 64 lower-case hex digits, as `rollcall agent status` prints them on the host.'],
  fingerprint_mistyped: [409, 3, 'The fingerprint is nearly one that the host published, but not the same.', 'Copy it whole from `rollcall agent status` on the host.'],
  fingerprint_mismatch: [409, 3, 'The pin has another fingerprint.', 'Compare `rollcall pin show` with `rollcall agent status` on the host. If they differ, the pin may be a thief\'s: `rollcall pin approve`.'],
  pin_unchanged: [409, 3, 'This fingerprint is the pin already.', 'Nothing to approve. A first-use pin is confirmed with `rollcall pin confirm`.'],
  pin_absent: [409, 3, 'The host has no pin.', 'It gets one by enrolling, by an approval, or by first use.'],
  pin_not_pending: [404, 1, 'No such change is pending for this host.', 'See `rollcall pin list`.'],
  host_not_enrolled: [409, 3, 'The host is let in by an enrolment proof only.', 'Issue a token with `rollcall host reenrol`.'],
  exposure_not_acknowledged: [409, 3, 'More hosts are exposed than were acknowledged.', 'Read `rollcall pin exposure`, then repeat with its number.'],
  nothing_eligible: [409, 3, 'There is no host that first use could be accepted for.', 'See `rollcall pin exposure` for the reasons.'],
  window_out_of_bounds: [400, 2, 'The window ends too early or too late.', 'Choose a time in the future within the bound that the details name.'],

  // --- Rungs (design 3)
  no_rung_left: [409, 3, 'No accepted rung would be left to stand on, or none above the one that is to close.', 'Accept another one first: `rollcall rung accept`. The highest is closed by nothing.'],
  rung_in_use: [409, 3, 'Nothing else would let these hosts in.', 'Close it by evidence: `rollcall rotation start rung:RUNG`. Or go on without them with --leave NAME….'],
  rung_closed: [409, 3, 'The fleet refuses this rung already.', 'See why: `rollcall rung list`.'],
  rung_undecided: [404, 1, 'Nothing was decided about this rung for this host.', 'See what was: `rollcall rung list`.'],
  host_tokens_full: [409, 3, 'The host has two tokens already.', 'The older one goes when the newer one was seen. To end one at once: `rollcall host drop-token HOST ID`.'],
  host_token_unknown: [404, 1, 'The host has no token of this id.', 'See those that it has: `rollcall host show HOST`.'],

  // --- Rotation (design 5)
  no_such_holder: [404, 1, 'That member does not hold this token.', 'See who does: `rollcall secret show NAME`.'],
  no_holder: [409, 3, 'Nobody holds this token.', 'Say who does: `rollcall secret hold NAME HOST…`, or caller:NAME for one that is no host.'],
  narrow_by_missing: [400, 2, 'After a leak the old version must have an end.', 'Say when it is refused, whoever presents it: --narrow-by TIME.'],
  rotation_running: [409, 3, 'A rotation of this secret is running.', '`rollcall rotation status` says what it waits for. Finish it, or turn it back; the master\'s is superseded once nobody would be stranded.'],
  rotation_moved_on: [409, 3, 'The rotation is not in that phase any more.', 'It went on, by itself or by somebody else; see `rollcall rotation status`.'],
  rotation_paused: [409, 3, 'The rotation is paused.', 'See why with `rollcall rotation status`, then `rollcall rotation resume`.'],
  gate_closed: [409, 3, 'Evidence for the next phase is missing.', '`rollcall rotation status` lists each blocker and what to do.'],
  no_rollback: [409, 3, 'There is no way back from here.', 'The way back is a new version: `rollcall rotation start`.'],
  hosts_without_pin: [409, 3, 'Hosts on the roll have no usable pin, so nothing can be sealed to them.', 'Enrol them, or go on without them with --leave NAME….'],
  would_strand: [409, 3, 'Hosts would be stranded.', 'Wait for them, or go on without them with --leave NAME….'],
  leave_unknown: [400, 2, '--leave names somebody whom this does not concern.', 'A host of the roll, or a holder of the token: see `rollcall host list` and `rollcall secret show`.'],
  window_open: [409, 3, 'The old version still verifies.', 'Wait until the window closes, shorten it with `rollcall rotation cut`, or use `rollcall rotation retire --now`.'],
  window_not_shortened: [409, 3, 'A window can only be shortened.', 'Choose a time before the one at which it closes.'],
  no_current_version: [409, 3, 'The secret has no version yet.', 'Make one with `rollcall secret create`, or import one.'],
  not_retired: [409, 1, 'Only the master is retired.', 'A shared token ends by the gates of its rotation, or at a time: `rollcall rotation cut NAME --until TIME`.'],
  no_previous_version: [409, 3, 'There is no previous version.', 'Nothing to retire or to cut.'],
  empty_roll: [409, 3, 'There is no host on the roll, and a pass over nothing is not readiness.', 'Add a host first.'],
  hub_time_jumped: [503, 3, 'The clock of the hub jumped forward; nothing is opened or issued until a person has looked.', 'Set the clock right, then `rollcall hub accept-time`.'],

  // --- Hub: its store, its roll, its secrets (design 2, 3, 8)
  store_unreadable: [503, 1, 'A row of the store cannot be read: it is damaged, or was not written by this hub.', 'Nothing was changed. Check that the key-encryption key is the one of this database; see `rollcall hub readiness`.'],
  database_unreadable: [500, 1, 'The database cannot be opened.', 'Check the path, its owner and its modes: `ls -l` on the file that is named.'],
  database_not_durable: [500, 2, 'SQLite would not keep every commit through a power cut here.', 'It must run with WAL and synchronous=FULL, in version 3.51.3 or newer, on a local disk.'],
  database_in_use: [409, 1, 'Another hub runs on this database.', 'Stop it first: two hubs on one SQLite file would contradict each other.'],
  schema_newer: [500, 2, 'The database was written by a newer version of Rollcall.', 'Run that version, or restore a backup that this one made.'],
  kek_unreadable: [500, 2, 'The key-encryption key cannot be read.', 'Name its file with --kek-file. It holds 32 bytes in base64url and has mode 0600.'],
  kek_loose_mode: [500, 2, 'Others may read the key-encryption key.', 'Mend it with: chmod 600 FILE'],
  kek_wrong: [409, 2, 'This is not the key-encryption key of this database.', 'Find the file whose key has the expected fingerprint. Nothing was changed.'],
  hub_exists: [409, 2, 'There is a hub in this directory already.', 'Start it with `rollcall hub start --dir DIR`, or choose another directory.'],
  config_invalid: [400, 2, 'The configuration cannot be taken.', 'Mend what is listed, each with its file and line; nothing was started or changed.'],
  config_absent: [409, 2, 'This process was started without a configuration file, so there is nothing to read again.', 'Start it with --config FILE.'],
  hub_missing: [400, 2, 'There is no hub in this directory.', 'Make one with `rollcall hub init --dir DIR`.'],
  listen_failed: [500, 1, 'A listener cannot be opened.', 'Something else may hold the address: see `ss -ltnp`.'],
  malformed_address: [400, 2, 'This is not an address to listen on.', 'Use HOST:PORT, for example 0.0.0.0:7443 or [::]:7443.'],
  host_unknown: [404, 1, 'There is no such host on the roll.', 'See `rollcall host list`; put it on with `rollcall host add`.'],
  address_missing: [400, 2, 'A host of reach push needs an address.', 'Add its address, HOST:PORT, where the hub calls it.'],
  host_exists: [409, 1, 'A host with this id, or one that differs in case only, is on the roll.', 'Choose another id, or `rollcall host reenrol` the one that is there.'],
  host_suspended: [409, 3, 'The host is suspended.', 'Let it in again first: `rollcall host resume HOST`.'],
  host_banned: [409, 3, 'The host was evicted for good.', 'Lift the ban first: `rollcall host unban HOST`.'],
  host_not_active: [409, 3, 'Only an active host can be suspended.', 'See its state: `rollcall host show HOST`.'],
  host_not_suspended: [409, 3, 'The host is not suspended.', 'See its state: `rollcall host show HOST`.'],
  host_not_banned: [409, 3, 'The host is not banned.', 'An evicted host without a ban enrols with `rollcall host reenrol`.'],
  host_evicted: [409, 1, 'The host was evicted already.', 'Let it back in with `rollcall host reenrol`, or `rollcall host remove` it.'],
  master_missing: [409, 3, 'There is no master yet.', 'Make one with `rollcall secret create master`, or bring yours: `rollcall secret import master --file F`.'],
  secret_value_known: [409, 1, 'A secret of another name has, or had, this value.', 'Whoever sends it could not be told which of the two was meant: import it once, and let its holders hold that one.'],
  held_secrets_full: [409, 1, 'A host would hold more shared tokens than one request can carry.', 'Release one of them first (`rollcall secret release`), or give this one to fewer hosts.'],
  secret_reserved: [409, 1, 'This name is reserved.', 'It stands for the own token of each host: `rollcall host token`. Choose another name.'],
  secret_exists: [409, 1, 'There is a secret of this name already.', 'Replace its value with `rollcall rotation start`.'],
  secret_unknown: [404, 1, 'There is no secret of this name.', 'See `rollcall secret list`.'],
  operator_exists: [409, 1, 'There is an operator of this name.', 'Choose another name, or `rollcall operator rotate-token` this one.'],
  operator_unknown: [404, 1, 'There is no operator of this name.', 'See `rollcall operator list`.'],
  role_too_low: [403, 1, 'The role of this operator does not allow that.', 'Ask an operator with the role that is named.'],
  rotation_not_paused: [409, 3, 'The rotation is not paused.', 'See `rollcall rotation status`.'],
  rotation_ambiguous: [409, 2, 'Several rotations run.', 'Name one of them: see `rollcall rotation list`.'],
  rotation_unknown: [404, 1, 'There is no such rotation.', 'See `rollcall rotation list`.'],
  certificates_not_offered: [400, 1, 'This hub does not issue certificates yet.', 'Enrol without a certificate request.'],
} as const;

export type ErrorCode = keyof typeof rows;

export const errorTable: Readonly<Record<ErrorCode, ErrorRow>> = Object.fromEntries(
  Object.entries(rows).map(([code, [status, exit, text, hint, retry]]) => [
    code,
    { status, exit, text, hint, retryable: retry === 'retry' },
  ]),
) as Record<ErrorCode, ErrorRow>;

/** Facts about one occurrence. Public: they are printed, logged and sent. Never a secret, never raw input. */
export type ErrorDetails = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

export class RollcallError<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'RollcallError';
  readonly code: Code;
  readonly details: ErrorDetails;

  constructor(code: Code, details: ErrorDetails = {}, options: { readonly cause?: unknown } = {}) {
    super(errorTable[code].text, options);
    this.code = code;
    this.details = details;
  }

  /** The row of the table. */
  get row(): ErrorRow {
    return errorTable[this.code];
  }
}

/** Whether `error` is a `RollcallError` of this code. */
export function isRollcallError<Code extends ErrorCode>(error: unknown, code?: Code): error is RollcallError<Code> {
  return error instanceof RollcallError && (code === undefined || error.code === code);
}
