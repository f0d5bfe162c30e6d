// The player of @platformatic/kafka.
import { Consumer, Producer, stringDeserializers, stringSerializers } from '@platformatic/kafka'
import { address, fail, group, instance, obey, protocol, tell, topic } from './stage.mjs'

const common = { clientId: 'player', bootstrapBrokers: [address] }
const consumer = new Consumer({
  ...common,
  groupId: group,
  ...(instance && { groupInstanceId: instance }),
  ...(protocol === 'consumer' ? { groupProtocol: 'consumer' } : { sessionTimeout: 300_000, heartbeatInterval: 200, rebalanceTimeout: 300_000 }),
  autocommit: false,
  isolationLevel: 1,
  maxWaitTime: 100,
  deserializers: stringDeserializers
})
const messages = []
let producer

const member = {
  async commit (offsets) {
    await consumer.commit({
      offsets: [...offsets].map(([partition, offset]) => ({ topic, partition, offset, leaderEpoch: 0 }))
    })
    messages.length = 0
  },

  async transact (out, read, offsets, commits) {
    producer ??= new Producer({ ...common, idempotent: true, transactionalId: group, serializers: stringSerializers })
    const transaction = await producer.beginTransaction()
    await transaction.addConsumer(consumer)
    await transaction.send({ messages: read.map(({ value }) => ({ topic: out, value, partition: 0 })) })
    for (const message of messages) await transaction.addOffset(message)
    await (commits ? transaction.commit() : transaction.abort())
  },

  async close () {
    await stream.close()
    await consumer.close(true)
    await producer?.close()
  }
}

let stream
try {
  stream = await consumer.consume({ topics: [topic], mode: 'committed', fallbackMode: 'earliest' })
  stream.on('error', fail)
  stream.on('data', message => {
    messages.push(message)
    tell(message.partition, message.offset, message.value)
  })
  await obey(member)
} catch (error) {
  fail(error)
}
