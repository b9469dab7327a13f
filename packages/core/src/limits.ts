/** Every bound of the product, in one place. Units are last in the name. */
export const limits = {
  // Names (design 3)
  hostIdCharacters: 128,
  secretNameCharacters: 64,

  importedHosts: 10_000,

  // Tokens (design 3)
  masterMinBytes: 32,
  masterMaxBytes: 4_096,
  importedTokenMinCharacters: 22,
  importedTokenMaxCharacters: 512,
  tokenTextMaxCharacters: 4_096,
  enrolmentTokenDefaultMs: 3_600_000, // 1 h
  enrolmentTokenMaxMs: 604_800_000, // 7 d
  /** How long one and the same redeeming request is answered again (scenario: lost response). */
  enrolmentRepeatMs: 600_000, // 10 min

  // Rungs (design 3)
  hostTokensPerHost: 2,
  rungReasonCharacters: 200,

  // Shared tokens (design 5): what one host holds, and says of it in a beat
  namedSecrets: 16,
  /** A host presents its tokens for so long after the hub's last answer: three of the longest intervals. */
  tokensKnownForMs: 180_000,
  tokenBatch: 1,
  quietWindowMs: 86_400_000, // 1 d
  narrowByMaxMs: 7_776_000_000, // 90 d
  sinksPerHost: 16,
  countedVersions: 4,
  hitSamplesPerBeat: 8,
  userAgentCharacters: 128,
  routeCharacters: 128,

  // Sinks (design 4)
  sinkPathCharacters: 1_000,
  /** Of the last part of the path: what is made beside it is named after it, and a name has 255 bytes. */
  sinkNameBytes: 200,
  /** How often a sink is looked at without a reason. */
  sinkCheckMs: 60_000,
  /** Two tokens, and what somebody may have put there instead. */
  sinkFileMaxBytes: 16_384, // 16 KiB
  sinkReloadTimeoutMs: 10_000,
  sinkReloadTimeoutMaxMs: 300_000, // 5 min
  sinkCommandArguments: 32,
  sinkArgumentCharacters: 1_000,
  /** Some programs write more than their pid below it. */
  pidFileMaxBytes: 1_024,

  /** Of all tokens of a host together: a beat has a bound too. */
  hitSamplesInAll: 16,
  /** Lines of one request; each is compared with everything that is held. */
  presentedTokens: 16,
  /** Requests of one probe, and how long one may take. */
  probeTimeoutMs: 5_000,
  /** A probe that could not be made is tried again after this. */
  probeAgainMs: 5_000,

  // Listener of an agent (design 4, Commands)
  listenerConnections: 1_000,
  /** A quarter of them: the hub is one network, the agent itself another, and so is whoever holds what it opened. */
  listenerConnectionsPerNetwork: 250,
  listenerCheckMs: 1_000,
  /** Elapsed time that counts suspension, ahead of the one that does not: then the machine was suspended. */
  suspensionMs: 1_500,

  // JSON
  jsonMaxDepth: 16,

  // Deliveries (design 4)
  envelopeMaxBytes: 65_536, // 64 KiB
  acceptedVersions: 2,
  refusedVersions: 1,
  purposesPerMaster: 32,
  ssoKeysPerMaster: 4,
  statementMaxBytes: 16_384, // 16 KiB
  challengeIdMaxBytes: 1_024,
  /** How long a challenge may be answered. */
  challengeMs: 60_000,
  resealMs: 60_000,

  // Pins (design 3)
  pendingPinsPerHost: 4,
  observedKeysPerHost: 4,
  firstUseMinAgeMs: 86_400_000, // 1 d
  firstUseMaxMs: 2_592_000_000, // 30 d
  formerLifeMs: 86_400_000, // 1 d

  cloneAlertMs: 600_000, // 10 min
  tokenReuseAlertMs: 600_000, // 10 min

  // Rotation (design 5)
  verifyWindowMs: 604_800_000, // 7 d
  oldHitSources: 100,
  rotationStepMs: 500,
  /** How long the canary of a rotation of the master goes alone, from the beginning of `rolling`. */
  canaryMs: 60_000,
  jobSilentMs: 60_000,
  jobRetryFirstMs: 500,
  jobRetryMaxMs: 5_000,
  /** The first failures of a job in a row are logged each, and then one of so many. */
  jobFailuresLogged: 4,
  jobFailuresPerLog: 12,
  /** A running hub whose wall clock jumps further than this beyond elapsed time opens no window. */
  clockJumpMs: 300_000, // 5 min

  // Liveness (design 7)
  beatMs: 10_000,
  beatMinMs: 100,
  beatMaxMs: 60_000,
  freshMinMs: 30_000,
  /** A host is fresh within this many of the intervals that it was handed. */
  freshIntervals: 3,
  /** An interval is handed out with up to this share more or less. */
  beatJitterShare: 0.1,
  /** Former instances of an agent that are remembered, per host. */
  supersededInstances: 8,
  /** A former instance that beats this often beside its successor is a clone. */
  cloneReturns: 2,
  /** What was read of the store may go on saying yes for this long after the store became unreadable (I8). */
  cachedYesMs: 30_000,
  storePollMs: 5_000,
  /** Hosts that changed in the store are read one by one up to this many; more of them, and the whole roll is. */
  changesReadOneByOne: 64,
  /** Rows of one statement, where a whole roll is written or asked for. */
  storeBatchRows: 500,
  livenessFlushMs: 1_000,
  livenessFlushRows: 500,

  // Back-off of an agent (design 7)
  backoffFirstMs: 1_000,
  backoffMaxMs: 60_000,

  // Agent (design 2, 4, 11)
  /** A started agent waits up to this long before its first beat, so that a fleet does not arrive in one instant. */
  firstBeatSpreadMs: 1_000,
  connectTimeoutMs: 5_000,
  /** From the request to the last byte of its answer: above `requestTimeoutMs`, so that the hub gives up first. */
  answerTimeoutMs: 15_000,
  /** A kept connection is made anew after this, so that the verdict on its certificate does not outlive its dates by much. */
  connectionMaxAgeMs: 3_600_000, // 1 h
  hubAddresses: 16,
  hubAddressCharacters: 300,
  wrapKeysPerHost: 2,
  secretsPerHost: 64,
  deliveriesPerAnswer: 64,
  statementsPerAnswer: 16,
  refusalsPerBeat: 16,
  /** From this refusal in a row on, it is logged as an error. */
  refusalsBeforeError: 3,
  redeemedTokensKept: 64,
  /** Failures of the version to present before the other accepted one is tried. */
  refusedBearersBeforeOther: 2,
  /** How long the other accepted version is presented before the right one is tried again. */
  otherBearerMs: 60_000,
  /** The time of a statement that says nothing new is written down this often. */
  statementTimeKeptMs: 3_600_000, // 1 h

  // The hub as the client of a host (design 6)
  hostAnswerTimeoutMs: 10_000,
  hostAnswerMaxBytes: 65_536, // 64 KiB

  // HTTP (design 8)
  headerBytes: 16_384, // 16 KiB
  heartbeatBodyBytes: 32_768, // 32 KiB
  enrolBodyBytes: 32_768, // 32 KiB
  operatorBodyBytes: 1_048_576, // 1 MiB
  responseMaxBytes: 1_048_576, // 1 MiB
  requestTimeoutMs: 10_000,
  headersTimeoutMs: 5_000,
  keepAliveMs: 75_000,
  connectionsCheckingMs: 1_000,
  connections: 20_000,
  /** Half of them: a load balancer is one network, and so is a thief. */
  connectionsPerNetwork: 10_000,
  operatorConnections: 1_000,
  operatorConnectionsPerNetwork: 250,
  handshakeTimeoutMs: 5_000,
  /** Whoever is still sending what was refused already, and falls silent for so long, is cut off. */
  lingerMs: 1_000,
  /** Above `keepAliveMs`: whoever neither reads nor writes for so long is cut off. */
  socketSilentMs: 90_000,

  // Rates (design 3, 8)
  /** Of one running agent; a host beats every ten seconds, and at once after it has applied something. */
  beatsPerSecond: 20,
  beatsBurst: 60,
  /** Running agents of one host that are told apart; also how many may start in one burst. */
  beatInstancesPerHost: 16,
  newInstanceEveryMs: 10_000,
  /** Who was heard within this keeps its place: three of the longest intervals. */
  heardKeptMs: 180_000,
  /** Hosts on no roll that beat with a shared token; one network holds half of the places, as of the connections. */
  unlistedHosts: 20_000,
  newUnlistedHostsPerSecond: 200,
  newUnlistedHostsBurst: 10_000,
  enrolsPerSecond: 200,
  enrolsBurst: 2_000,
  enrolsPerNetworkPerSecond: 100,
  enrolsPerNetworkBurst: 1_000,
  enrolsPerHostPerSecond: 1,
  enrolsPerHostBurst: 20,
  publicPerSecond: 1_000,
  publicBurst: 5_000,
  publicPerNetworkPerSecond: 200,
  publicPerNetworkBurst: 2_000,
  /** Networks and claimed hosts whose rates are remembered. */
  rateLimitedKeys: 10_000,

  // Certificates (design 6)
  authorityLifeMs: 315_360_000_000, // 10 y
  serverCertificateLifeMs: 31_536_000_000, // 1 y
  /** Below `jobSilentMs`. */
  certificateCheckMs: 30_000,
  /** Of a host (design 6): shorter where its issuer ends before. */
  hostCertificateLifeMs: 86_400_000, // 1 d
  /** Of what would live shorter than this none is issued: it would be due again before it is in use. */
  hostCertificateMinLifeMs: 3_600_000, // 1 h
  certificateRequestMaxBytes: 4_096,
  /** How long the hub remembers a certificate that has ended. */
  endedCertificatesKeptMs: 604_800_000, // 7 d
  /** After a proof: a host renews twice a day. */
  certificateEveryMs: 60_000,
  certificatesBurst: 10,
  /** How long an agent that was refused a certificate waits at most before it asks again. */
  certificateRetryMaxMs: 600_000, // 10 min
  certificateMaxBytes: 16_384, // 16 KiB
  certificateChain: 5,
  trustBundleRoots: 32,
  certificateBackdateMs: 300_000, // 5 min
  /** For a host whose clock is behind; further behind it gets none. */
  certificateBackdateMaxMs: 3_600_000, // 1 h
  certificateSerialBytes: 16,
  certificateNames: 64,
  /** X.520 ub-common-name: a common name is for people, the identity is the URI. */
  commonNameCharacters: 64,
  spiffeIdCharacters: 2_048,

  // Command line (design 8)
  /** Above the 30 s that an eviction may wait for replicas. */
  operatorCallMs: 60_000,
  /** Ten thousand hosts with all their columns fit. */
  operatorAnswerMaxBytes: 67_108_864, // 64 MiB
  unixSocketPathBytes: 107,
  outputColumns: 80,
  outputListRows: 20,
  namesInSentence: 10,
  auditPageRecords: 500,
  auditListRecords: 10_000,
  watchIntervalMs: 1_000,
  /** How long a watch goes on without an answer: a restart of the hub must not end it. */
  watchUnreachableMs: 60_000,

  // Files
  stateFileMaxBytes: 4_194_304, // 4 MiB
  secretFileMaxBytes: 65_536, // 64 KiB
  configFileMaxBytes: 65_536, // 64 KiB

  // Doctor (design 8)
  hubDiskFreeBytes: 268_435_456, // 256 MiB
  agentDiskFreeBytes: 16_777_216, // 16 MiB
  /** The Date header has whole seconds, and the answer takes a moment. */
  clockSkewMs: 60_000,
} as const;
