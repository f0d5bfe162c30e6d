"""Brokers: a configuration and its sentence on each line."""

from __future__ import annotations

BROKER = """
add.partitions.to.txn.retry.backoff.max.ms: The longest wait before a partition is added to a transaction again on the server's side.
add.partitions.to.txn.retry.backoff.ms: The wait before a partition is added to a transaction again on the server's side.
advertised.listeners: The addresses that clients and other brokers are told, where they are not those of listeners.
alter.config.policy.class.name: The class that judges whether a change of configurations is allowed.
alter.log.dirs.replication.quota.window.num: How many samples are kept for the quota of moves between log directories.
alter.log.dirs.replication.quota.window.size.seconds: The length of a sample for the quota of moves between log directories.
authorizer.class.name: The class that decides who may do what; none means that everybody may do everything.
auto.create.topics.enable: Whether a topic that somebody asks for is created.
auto.leader.rebalance.enable: Whether leadership goes back to the preferred replicas by itself.
background.threads: How many threads do the broker's background work.
broker.heartbeat.interval.ms: How often a broker tells the controller that it lives.
broker.id: The broker's number; node.id is its newer name.
broker.rack: Where the broker stands; replicas are spread over racks, and consumers may fetch from their own.
broker.session.timeout.ms: After what silence the controller fences a broker.
client.quota.callback.class: The class that says which quota a client's request counts for.
compression.gzip.level: The level at which the broker compresses with gzip, where compression.type asks it to.
compression.lz4.level: The level at which the broker compresses with lz4, where compression.type asks it to.
compression.type: The codec in which records are kept; producer keeps what each producer sent.
compression.zstd.level: The level at which the broker compresses with zstd, where compression.type asks it to.
config.providers: The names of classes that look up values of configurations elsewhere.
connection.failed.authentication.delay.ms: How much later a connection is closed when its authentication failed.
connections.max.idle.ms: After what time without a request a connection is closed.
connections.max.reauth.ms: How long a SASL session lives before the client has to authenticate again; 0 means that it need not.
controlled.shutdown.enable: Whether a broker hands its leaderships over before it stops.
controller.listener.names: The listeners that the controllers use.
controller.quorum.append.linger.ms: How long the leading controller gathers records before it writes them.
controller.quorum.auto.join.enable: Whether a controller joins the voters of the quorum by itself.
controller.quorum.bootstrap.servers: The controllers by which the quorum is found.
controller.quorum.election.backoff.max.ms: The longest wait before a controller tries another election.
controller.quorum.election.timeout.ms: How long a controller waits for votes before it tries another election.
controller.quorum.fetch.max.bytes: How much of the metadata log a fetch of the quorum carries.
controller.quorum.fetch.snapshot.max.bytes: How much of a snapshot a fetch of the quorum carries.
controller.quorum.fetch.timeout.ms: After what time without an answered fetch a voter tries to become the leader, or a leader gives up.
controller.quorum.request.timeout.ms: How long a controller waits for the answer of another one.
controller.quorum.retry.backoff.ms: The wait before a request of the quorum is sent again.
controller.quorum.voters: The voters of a quorum that does not change, as id@host:port.
controller.quota.window.num: How many samples are kept for the quotas of the controller's changes.
controller.quota.window.size.seconds: The length of a sample for the quotas of the controller's changes.
controller.socket.timeout.ms: How long a connection between controller and broker waits.
cordoned.log.dirs: The log directories that get no new replicas.
create.topic.policy.class.name: The class that judges whether a topic may be created.
default.replication.factor: How many replicas the partitions of a topic get that nobody gave a number for.
delegation.token.expiry.check.interval.ms: How often expired delegation tokens are removed.
delegation.token.expiry.time.ms: How long a delegation token is valid before it has to be renewed.
delegation.token.max.lifetime.ms: The age beyond which a delegation token cannot be renewed.
delegation.token.secret.key: The key by which delegation tokens are made and checked, the same on all brokers.
delete.records.purgatory.purge.interval.requests: After how many requests those that are done are cleared from the waiting DeleteRecords.
delete.topic.enable: Whether topics may be deleted.
early.start.listeners: The listeners that may be open before the broker is ready to serve.
errors.deadletterqueue.auto.create.topics.enable: Whether a dead letter topic that is missing is created.
errors.deadletterqueue.topic.name.prefix: What the name of a topic begins with that may take dead letters of share groups.
fetch.max.bytes: The most that a fetch is answered with; a first batch that is larger is sent all the same.
fetch.purgatory.purge.interval.requests: After how many requests those that are done are cleared from the waiting fetches.
follower.fetch.last.tiered.offset.enable: Whether an empty follower of a tiered partition begins at the last offset of the remote storage.
group.consumer.assignment.interval.ms: The shortest time between two assignments of a consumer group.
group.consumer.assignor.offload.enable: Whether assignors of consumer groups run on a thread of their own.
group.consumer.assignors: The server-side assignors of consumer groups, by name or class; the first is the default.
group.consumer.heartbeat.interval.ms: How often members of consumer groups send a heartbeat.
group.consumer.max.assignment.interval.ms: The largest assignment interval that a consumer group may be given.
group.consumer.max.heartbeat.interval.ms: The largest heartbeat interval that a consumer group may be given.
group.consumer.max.session.timeout.ms: The largest session timeout that a consumer group may be given.
group.consumer.max.size: How many members a consumer group may have.
group.consumer.migration.policy: Whether groups with members may change from the classic to the consumer protocol, back, both, or neither.
group.consumer.min.assignment.interval.ms: The smallest assignment interval that a consumer group may be given.
group.consumer.min.heartbeat.interval.ms: The smallest heartbeat interval that a consumer group may be given.
group.consumer.min.session.timeout.ms: The smallest session timeout that a consumer group may be given.
group.consumer.regex.refresh.interval.ms: How often the patterns of consumer groups are matched against new topics.
group.consumer.session.timeout.ms: After what silence a member of a consumer group is fenced.
group.coordinator.append.linger.ms: How long a group coordinator gathers records before it writes them; -1 adapts to the load.
group.coordinator.background.threads: How many threads do the group coordinator's background work.
group.coordinator.cached.buffer.max.bytes: The largest buffer that a group coordinator keeps for its next write.
group.coordinator.rebalance.protocols: Which group protocols the broker serves.
group.coordinator.threads: How many threads the group coordinator has.
group.initial.rebalance.delay.ms: How long the first rebalance of an empty classic group waits for more members.
group.max.session.timeout.ms: The largest session timeout that a member of a classic group may ask for.
group.max.size: How many members a classic group may have.
group.min.session.timeout.ms: The smallest session timeout that a member of a classic group may ask for.
group.share.assignment.interval.ms: The shortest time between two assignments of a share group.
group.share.assignor.offload.enable: Whether assignors of share groups run on a thread of their own.
group.share.assignors: The server-side assignors of share groups, by name or class.
group.share.delivery.count.limit: How often a record is delivered to a share group before it is given up.
group.share.heartbeat.interval.ms: How often members of share groups send a heartbeat.
group.share.max.assignment.interval.ms: The largest assignment interval that a share group may be given.
group.share.max.delivery.count.limit: The largest delivery count limit that a share group may be given.
group.share.max.heartbeat.interval.ms: The largest heartbeat interval that a share group may be given.
group.share.max.partition.max.record.locks: The largest number of held records per partition that a share group may be given.
group.share.max.record.lock.duration.ms: The largest lock duration that a share group may be given.
group.share.max.session.timeout.ms: The largest session timeout that a share group may be given.
group.share.max.share.sessions: How many share sessions a broker keeps.
group.share.max.size: How many members a share group may have.
group.share.min.assignment.interval.ms: The smallest assignment interval that a share group may be given.
group.share.min.delivery.count.limit: The smallest delivery count limit that a share group may be given.
group.share.min.heartbeat.interval.ms: The smallest heartbeat interval that a share group may be given.
group.share.min.partition.max.record.locks: The smallest number of held records per partition that a share group may be given.
group.share.min.record.lock.duration.ms: The smallest lock duration that a share group may be given.
group.share.min.session.timeout.ms: The smallest session timeout that a share group may be given.
group.share.partition.max.record.locks: How many records of a partition a share group may hold at a time.
group.share.record.lock.duration.ms: How long a member of a share group may hold a record.
group.share.session.timeout.ms: After what silence a member of a share group is fenced.
group.streams.acceptable.recovery.lag: How far behind a warm-up task may be and count as caught up.
group.streams.assignment.interval.ms: The shortest time between two assignments of a streams group.
group.streams.assignor.offload.enable: Whether assignors of streams groups run on a thread of their own.
group.streams.assignors: The task assignors of streams groups; the first is the default.
group.streams.heartbeat.interval.ms: How often members of streams groups send a heartbeat.
group.streams.initial.rebalance.delay.ms: How long the first assignment of a streams group waits for more members.
group.streams.max.assignment.interval.ms: The largest assignment interval that a streams group may be given.
group.streams.max.heartbeat.interval.ms: The largest heartbeat interval that a streams group may be given.
group.streams.max.session.timeout.ms: The largest session timeout that a streams group may be given.
group.streams.max.size: How many members a streams group may have.
group.streams.max.standby.replicas: The largest number of standby copies that a streams group may be given.
group.streams.max.warmup.replicas: The most warm-up tasks that a streams group may ask for.
group.streams.min.assignment.interval.ms: The smallest assignment interval that a streams group may be given.
group.streams.min.heartbeat.interval.ms: The smallest heartbeat interval that a streams group may be given.
group.streams.min.session.timeout.ms: The smallest session timeout that a streams group may be given.
group.streams.min.task.offset.interval.ms: The shortest interval at which members of a streams group may tell the offsets of their tasks.
group.streams.num.standby.replicas: How many standby copies each stateful task of a streams group has.
group.streams.num.warmup.replicas: How many warm-up tasks a streams group may have at once.
group.streams.rack.aware.assignment.tags: The client tags by which standby tasks are spread.
group.streams.session.timeout.ms: After what silence a member of a streams group is fenced.
group.streams.task.offset.interval.ms: How often members of a streams group tell the offsets of their tasks.
group.streams.topology.description.plugin.class: The class that keeps the descriptions of topologies; none means that none are kept.
initial.broker.registration.timeout.ms: How long a starting broker tries to register before it gives up.
inter.broker.listener.name: The listener by which brokers talk to each other.
kafka.metrics.polling.interval.secs: How often the reporters of the older metrics are polled.
kafka.metrics.reporters: The reporters of the older metrics, by class.
leader.imbalance.check.interval.seconds: How often the controller looks for leaders that are not the preferred ones.
listener.security.protocol.map: Which security protocol each listener name stands for.
listeners: The addresses that the broker listens on, each with the name of its listener.
log.cleaner.backoff.ms: How long the cleaner sleeps when there is no log to clean.
log.cleaner.dedupe.buffer.size: The memory in which the cleaner's threads keep keys and offsets.
log.cleaner.delete.retention.ms: How long the tombstone of a deleted key stays in a compacted topic.
log.cleaner.enable: Whether compacted topics are cleaned.
log.cleaner.io.buffer.load.factor: How full the cleaner's buffer of keys may become.
log.cleaner.io.buffer.size: The memory in which the cleaner's threads read and write.
log.cleaner.io.max.bytes.per.second: How much the cleaner reads and writes a second at most.
log.cleaner.max.compaction.lag.ms: The longest that a record may stay uncompacted.
log.cleaner.min.cleanable.ratio: Which share of a log must be uncompacted before it is compacted again.
log.cleaner.min.compaction.lag.ms: The shortest time that a record stays uncompacted.
log.cleaner.threads: How many threads clean logs.
log.cleanup.policy: What happens to old segments of topics without a policy of their own: delete, compact, or both.
log.dir: The directory of the logs, where log.dirs names none.
log.dir.failure.timeout.ms: After what time a broker stops that cannot tell the controller of a failed log directory.
log.dirs: The directories of the logs.
log.flush.interval.messages: After how many records a log is written through to the disk.
log.flush.interval.ms: After what time a log is written through to the disk.
log.flush.offset.checkpoint.interval.ms: How often the recovery points of the logs are noted.
log.flush.scheduler.interval.ms: How often it is checked whether a log has to be written through to the disk.
log.flush.start.offset.checkpoint.interval.ms: How often the first offsets of the logs are noted.
log.index.interval.bytes: How many bytes of records lie between two entries of an offset index.
log.index.size.max.bytes: The largest size of an offset index.
log.local.retention.bytes: How much of a tiered partition stays on the broker; -2 means log.retention.bytes.
log.local.retention.ms: How long a segment of a tiered partition stays on the broker; -2 means log.retention.ms.
log.message.timestamp.after.max.ms: How far a record's timestamp may be ahead of the broker's clock.
log.message.timestamp.before.max.ms: How far a record's timestamp may be behind the broker's clock.
log.message.timestamp.type: Whose clock stamps the records: CreateTime is the producer's, LogAppendTime the broker's.
log.preallocate: Whether the file of a new segment is given its full size at once.
log.remote.copy.lag.bytes: How many of a partition's newest bytes are not yet copied to remote storage.
log.remote.copy.lag.ms: How old a segment is before it is copied to remote storage.
log.retention.bytes: How large a partition may grow before its oldest segments are removed; -1 means no bound.
log.retention.check.interval.ms: How often the broker looks for segments to remove.
log.retention.hours: How long records are kept, in hours; minutes and milliseconds have precedence.
log.retention.minutes: How long records are kept, in minutes; milliseconds have precedence, else hours count.
log.retention.ms: How long records are kept, in milliseconds; else minutes count; -1 means for ever.
log.roll.hours: After how many hours a segment is closed though it is not full; milliseconds have precedence.
log.roll.jitter.hours: The most that is taken from log.roll.hours at random.
log.roll.jitter.ms: The most that is taken from log.roll.ms at random; else hours count.
log.roll.ms: After what time a segment is closed though it is not full; else hours count.
log.segment.bytes: The size of a segment file.
log.segment.delete.delay.ms: How long the file of a removed segment stays on disk.
max.connection.creation.rate: How many connections a second a broker accepts.
max.connections: How many connections a broker has at a time.
max.connections.per.ip: How many connections a broker has from one address.
max.connections.per.ip.overrides: Addresses with their own number of connections, as host:number.
max.decompressed.message.bytes: The largest record that may come out of a compressed batch.
max.incremental.fetch.session.cache.slots: How many fetch sessions a broker keeps.
max.request.partition.size.limit: How many partitions a request for descriptions may ask for.
message.max.bytes: The largest batch of records that is accepted, compressed if it is sent compressed.
metadata.log.dir: The directory of the metadata log, where it is not the first of log.dirs.
metadata.log.max.record.bytes.between.snapshots: After how many bytes of the metadata log a snapshot is made.
metadata.log.max.snapshot.interval.ms: After what time a snapshot of the metadata is made.
metadata.log.segment.bytes: The size of a segment of the metadata log.
metadata.log.segment.ms: After what time a segment of the metadata log is closed.
metadata.max.idle.interval.ms: How often the leading controller writes a record that says nothing, when there is nothing else to write.
metadata.max.retention.bytes: How large metadata log and snapshots may grow before the oldest are removed.
metadata.max.retention.ms: How long the metadata log and its snapshots are kept.
metric.reporters: The reporters of metrics, by class.
metrics.num.samples: How many samples a metric is computed from.
metrics.recording.level: The most detailed level of metrics that is recorded.
metrics.sample.window.ms: How long a sample of a metric lasts.
min.insync.replicas: How many replicas must be in sync for a write with acks=all; with fewer it is refused.
node.id: The number of this node in the cluster.
num.io.threads: How many threads handle requests.
num.network.threads: How many threads of a listener read requests and write responses.
num.partitions: How many partitions a topic gets that nobody gave a number for.
num.recovery.threads.per.data.dir: How many threads of a log directory recover logs at the start and write them through at the end.
num.replica.alter.log.dirs.threads: How many threads move replicas between log directories.
num.replica.fetchers: How many threads fetch from each other broker.
offset.metadata.max.bytes: How long the metadata of a committed offset may be.
offsets.commit.timeout.ms: How long a commit waits for its replicas.
offsets.load.buffer.size: How much is read at once when offsets are loaded.
offsets.retention.check.interval.ms: How often the coordinator looks for expired offsets.
offsets.retention.minutes: How long offsets are kept after their group became empty, or after their commit if it has no members of its own.
offsets.topic.compression.codec: The codec of the topic of offsets.
offsets.topic.num.partitions: How many partitions the topic of offsets has; not to be changed afterwards.
offsets.topic.replication.factor: How many replicas the topic of offsets has; it is not created before so many brokers live.
offsets.topic.segment.bytes: The size of a segment of the topic of offsets.
principal.builder.class: The class that says who a connection's user is.
process.roles: What this process is: broker, controller, or both.
producer.id.expiration.ms: After what time without a write a partition forgets a producer.
producer.purgatory.purge.interval.requests: After how many requests those that are done are cleared from the waiting Produce requests.
queued.max.request.bytes: How many bytes of requests may wait before no more are read; -1 means no bound.
queued.max.requests: How many requests may wait before no more are read.
quota.window.num: How many samples are kept for client quotas.
quota.window.size.seconds: The length of a sample for client quotas.
remote.fetch.max.wait.ms: The longest wait of a fetch for the remote storage.
remote.list.offsets.request.timeout.ms: The longest wait of ListOffsets for the remote storage.
remote.log.index.file.cache.total.size.bytes: How much space the indexes of remote segments may take on the broker.
remote.log.manager.copier.thread.pool.size: How many threads copy segments to the remote storage.
remote.log.manager.copy.max.bytes.per.second: How much is copied to the remote storage a second at most.
remote.log.manager.copy.quota.window.num: How many samples are kept for the quota of copying to the remote storage.
remote.log.manager.copy.quota.window.size.seconds: The length of a sample for the quota of copying to the remote storage.
remote.log.manager.expiration.thread.pool.size: How many threads remove expired segments from the remote storage.
remote.log.manager.fetch.max.bytes.per.second: How much is fetched from the remote storage a second at most.
remote.log.manager.fetch.quota.window.num: How many samples are kept for the quota of fetching from the remote storage.
remote.log.manager.fetch.quota.window.size.seconds: The length of a sample for the quota of fetching from the remote storage.
remote.log.manager.follower.thread.pool.size: How many threads follow remote segments for replicas that do not lead.
remote.log.manager.task.interval.ms: How often segments are copied to and removed from the remote storage.
remote.log.manager.thread.pool.size: How many threads plan the work on remote segments.
remote.log.metadata.custom.metadata.max.bytes: How long the storage's own metadata of a segment may be.
remote.log.metadata.manager.class.name: The class that keeps the metadata of remote segments.
remote.log.metadata.manager.class.path: Where the class for the metadata of remote segments is found.
remote.log.metadata.manager.impl.prefix: The prefix of configurations for the class of the remote metadata.
remote.log.metadata.manager.listener.name: The listener by which the class of the remote metadata reaches the broker.
remote.log.reader.max.pending.tasks: How many reads of the remote storage may wait.
remote.log.reader.threads: How many threads read from the remote storage.
remote.log.storage.manager.class.name: The class that keeps segments in the remote storage.
remote.log.storage.manager.class.path: Where the class for the remote storage is found.
remote.log.storage.manager.impl.prefix: The prefix of configurations for the class of the remote storage.
remote.log.storage.system.enable: Whether topics may be tiered to a remote storage.
replica.fetch.backoff.ms: How long a follower waits after a fetch that failed.
replica.fetch.max.bytes: The most that a follower fetches of one partition; a first batch that is larger is sent all the same.
replica.fetch.min.bytes: How much a follower's fetch waits for.
replica.fetch.response.max.bytes: The most that a follower's fetch is answered with in all.
replica.fetch.wait.max.ms: The longest that a follower's fetch waits for replica.fetch.min.bytes.
replica.high.watermark.checkpoint.interval.ms: How often the high watermarks are noted on disk.
replica.lag.time.max.ms: After what time without having caught up a follower leaves the in-sync replicas.
replica.selector.class: The class that chooses which replica a consumer fetches from; none means the leader.
replica.socket.receive.buffer.bytes: The receive buffer of the sockets by which followers fetch.
replica.socket.timeout.ms: How long a follower waits for the answer to its fetch.
replication.quota.window.num: How many samples are kept for the throttles of replication.
replication.quota.window.size.seconds: The length of a sample for the throttles of replication.
request.timeout.ms: How long the broker waits for the answer to a request of its own.
sasl.client.callback.handler.class: The class that gives SASL its answers when the broker is a client.
sasl.enabled.mechanisms: The SASL mechanisms that clients may use.
sasl.jaas.config: The login settings of SASL connections, in the format of JAAS.
sasl.kerberos.kinit.cmd: Where the command kinit of Kerberos is.
sasl.kerberos.min.time.before.relogin: How long the thread that refreshes a Kerberos login sleeps at least.
sasl.kerberos.principal.to.local.rules: The rules by which Kerberos principals become short names.
sasl.kerberos.service.name: The name by which Kerberos knows the brokers.
sasl.kerberos.ticket.renew.jitter: Which share of the time until a Kerberos ticket is renewed is random.
sasl.kerberos.ticket.renew.window.factor: After which share of its life a Kerberos ticket is renewed.
sasl.login.callback.handler.class: The class that gives a SASL login its answers.
sasl.login.class: The class that logs in for SASL.
sasl.login.connect.timeout.ms: How long connecting to an authentication provider may take.
sasl.login.read.timeout.ms: How long reading from an authentication provider may take.
sasl.login.refresh.buffer.seconds: How long before it ends a login is refreshed at the latest.
sasl.login.refresh.min.period.seconds: How long a login lives at least before it is refreshed.
sasl.login.refresh.window.factor: After which share of its life a login is refreshed.
sasl.login.refresh.window.jitter: Which share of the time until a login is refreshed is random.
sasl.login.retry.backoff.max.ms: The longest wait before a login is tried again.
sasl.login.retry.backoff.ms: The first wait before a login is tried again.
sasl.mechanism.controller.protocol: The SASL mechanism between brokers and controllers.
sasl.mechanism.inter.broker.protocol: The SASL mechanism between brokers.
sasl.oauthbearer.allow.unverified.audience: Whether a token's audience is not checked.
sasl.oauthbearer.allow.unverified.issuer: Whether a token's issuer is not checked.
sasl.oauthbearer.assertion.algorithm: The algorithm by which an OAuth assertion is signed.
sasl.oauthbearer.assertion.claim.aud: The audience that an OAuth assertion names.
sasl.oauthbearer.assertion.claim.exp.seconds: How long an OAuth assertion is valid.
sasl.oauthbearer.assertion.claim.iss: The issuer that an OAuth assertion names.
sasl.oauthbearer.assertion.claim.jti.include: Whether an OAuth assertion carries an id of its own.
sasl.oauthbearer.assertion.claim.nbf.seconds: How long before it was made an OAuth assertion counts as valid.
sasl.oauthbearer.assertion.claim.sub: The subject that an OAuth assertion names.
sasl.oauthbearer.assertion.file: The file of an OAuth assertion that was made beforehand.
sasl.oauthbearer.assertion.private.key.file: The file of the key by which OAuth assertions are signed.
sasl.oauthbearer.assertion.private.key.passphrase: The passphrase of the key by which OAuth assertions are signed.
sasl.oauthbearer.assertion.template.file: The file with further claims and headers of OAuth assertions.
sasl.oauthbearer.client.credentials.client.id: The client id for OAuth's client credentials.
sasl.oauthbearer.client.credentials.client.secret: The secret for OAuth's client credentials.
sasl.oauthbearer.clock.skew.seconds: How much the clocks of broker and OAuth provider may differ.
sasl.oauthbearer.expected.audience: The audiences of which an OAuth token must name one.
sasl.oauthbearer.expected.issuer: The issuer that an OAuth token must name.
sasl.oauthbearer.jwks.endpoint.refresh.ms: How often the provider's keys are fetched anew.
sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms: The longest wait before the provider's keys are asked for again.
sasl.oauthbearer.jwks.endpoint.retry.backoff.ms: The first wait before the provider's keys are asked for again.
sasl.oauthbearer.jwks.endpoint.url: Where the provider's keys are.
sasl.oauthbearer.jwt.retriever.class: The class that gets OAuth tokens.
sasl.oauthbearer.jwt.validator.class: The class that checks OAuth tokens.
sasl.oauthbearer.scope: The scope that an OAuth token is asked for.
sasl.oauthbearer.scope.claim.name: The claim of an OAuth token that holds its scope.
sasl.oauthbearer.sub.claim.name: The claim of an OAuth token that holds its subject.
sasl.oauthbearer.token.endpoint.url: Where OAuth tokens are to be had.
sasl.server.callback.handler.class: The classes that answer for the server in SASL, by listener and mechanism.
sasl.server.max.receive.size: The largest message that is read before a connection is authenticated.
security.inter.broker.protocol: The security protocol between brokers.
security.providers: Classes that bring Java security providers.
share.coordinator.append.linger.ms: How long a share coordinator gathers records before it writes them; -1 adapts to the load.
share.coordinator.cached.buffer.max.bytes: The largest buffer that a share coordinator keeps for its next write.
share.coordinator.load.buffer.size: How much is read at once when the state of share groups is loaded.
share.coordinator.snapshot.update.records.per.snapshot: How many updates are written between two snapshots of a share partition.
share.coordinator.state.topic.compression.codec: The codec of the topic of the share groups' state.
share.coordinator.state.topic.min.isr: How many replicas of the topic of the share groups' state must be in sync.
share.coordinator.state.topic.num.partitions: How many partitions the topic of the share groups' state has.
share.coordinator.state.topic.replication.factor: How many replicas the topic of the share groups' state has.
share.coordinator.state.topic.segment.bytes: The size of a segment of the topic of the share groups' state.
share.coordinator.threads: How many threads the share coordinator has.
share.coordinator.write.timeout.ms: How long a write of the share coordinator waits for its replicas.
share.fetch.purgatory.purge.interval.requests: After how many requests those that are done are cleared from the waiting share fetches.
socket.connection.setup.timeout.max.ms: The longest that setting up a connection may take, after several failures.
socket.connection.setup.timeout.ms: How long setting up a connection may take.
socket.listen.backlog.size: How many connections may wait to be accepted.
socket.receive.buffer.bytes: The receive buffer of the broker's sockets; -1 leaves it to the system.
socket.request.max.bytes: The largest request that is read.
socket.send.buffer.bytes: The send buffer of the broker's sockets; -1 leaves it to the system.
ssl.allow.dn.changes: Whether a new certificate may have another distinguished name.
ssl.allow.san.changes: Whether a new certificate may have other alternative names.
ssl.cipher.suites: The cipher suites that are allowed; none named means the default ones.
ssl.client.auth: Whether clients must, may or need not show a certificate.
ssl.enabled.protocols: The versions of TLS that are allowed.
ssl.endpoint.identification.algorithm: How the server's name is compared with its certificate; empty means not at all.
ssl.engine.factory.class: The class that makes TLS engines.
ssl.key.password: The password of the private key.
ssl.keymanager.algorithm: The algorithm of the key manager.
ssl.keystore.certificate.chain: The certificate chain in PEM.
ssl.keystore.key: The private key in PEM.
ssl.keystore.location: The file of the key store.
ssl.keystore.password: The password of the key store.
ssl.keystore.type: The format of the key store.
ssl.principal.mapping.rules: The rules by which names in certificates become short names.
ssl.protocol: The TLS protocol that contexts are made with.
ssl.provider: The security provider for TLS.
ssl.secure.random.implementation: The source of random numbers for TLS.
ssl.trustmanager.algorithm: The algorithm of the trust manager.
ssl.truststore.certificates: The trusted certificates in PEM.
ssl.truststore.location: The file of the trust store.
ssl.truststore.password: The password of the trust store.
ssl.truststore.type: The format of the trust store.
telemetry.max.bytes: The largest push of client metrics that is accepted, as it is sent.
transaction.abort.timed.out.transaction.cleanup.interval.ms: How often transactions that took too long are looked for and aborted.
transaction.max.timeout.ms: The largest transaction timeout that a producer may ask for.
transaction.partition.verification.enable: Whether it is checked that a partition is in the transaction before a write to it.
transaction.remove.expired.transaction.cleanup.interval.ms: How often transactional ids that nobody uses are looked for and removed.
transaction.state.log.load.buffer.size: How much is read at once when transactions are loaded.
transaction.state.log.min.isr: How many replicas of the topic of transactions must be in sync.
transaction.state.log.num.partitions: How many partitions the topic of transactions has; not to be changed afterwards.
transaction.state.log.replication.factor: How many replicas the topic of transactions has; it is not created before so many brokers live.
transaction.state.log.segment.bytes: The size of a segment of the topic of transactions.
transaction.two.phase.commit.enable: Whether producers may prepare a transaction that only they end.
transactional.id.expiration.ms: After what time without use a transactional id is forgotten.
unclean.leader.election.enable: Whether a replica that is not in sync may lead when no other can, at the price of records.
"""
