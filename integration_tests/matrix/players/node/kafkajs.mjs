// The player of kafkajs.
import { Kafka, logLevel } from 'kafkajs'
import { address, fail, group, obey, tell, topic } from './stage.mjs'

const kafka = new Kafka({ brokers: [address], clientId: 'player', logLevel: logLevel.NOTHING })
const consumer = kafka.consumer({
  groupId: group,
  heartbeatInterval: 200,
  sessionTimeout: 300_000,
  maxWaitTimeInMs: 100,
  readUncommitted: false
})
let producer

const member = {
  async commit (offsets) {
    await consumer.commitOffsets([...offsets].map(([partition, offset]) => ({ topic, partition, offset: String(offset) })))
  },

  async transact (out, read, offsets, commits) {
    if (!producer) {
      producer = kafka.producer({ transactionalId: group, idempotent: true, maxInFlightRequests: 1 })
      await producer.connect()
    }
    const transaction = await producer.transaction()
    await transaction.send({ topic: out, messages: read.map(({ value }) => ({ value, partition: 0 })) })
    const partitions = [...offsets].map(([partition, offset]) => ({ partition, offset: String(offset) }))
    await transaction.sendOffsets({ consumerGroupId: group, topics: [{ topic, partitions }] })
    await (commits ? transaction.commit() : transaction.abort())
  },

  async close () {
    await consumer.disconnect()
    await producer?.disconnect()
  }
}

try {
  consumer.on(consumer.events.CRASH, ({ payload }) => fail(payload.error))
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await consumer.run({
    autoCommit: false,
    eachMessage: async ({ partition, message }) => tell(partition, message.offset, message.value)
  })
  await obey(member)
} catch (error) {
  fail(error)
}
