// What the players in JavaScript have in common: orders in, answers out (players/__init__.py has the words).
import readline from 'node:readline'

export const [address, group, topic, protocol, instance] = process.argv.slice(2)

const read = []

export function tell (partition, offset, value) {
  read.push({ partition, offset: BigInt(offset), value: value.toString() })
  console.log(`read ${partition} ${offset} ${value}`)
}

// What is committed for records that were read, by partition.
function nextOffsets () {
  const next = new Map()
  for (const { partition, offset } of read) {
    if (offset >= (next.get(partition) ?? 0n)) next.set(partition, offset + 1n)
  }
  return next
}

export function fail (error) {
  console.log(`failed ${String(error).replaceAll(/\s+/g, ' ')}`)
  console.error(error)
  process.exitCode = 1
  setImmediate(() => process.exit(1))
}

// Obey until told to leave; member: commit(offsets), transact(out, read, offsets, commits), close().
export async function obey (member) {
  for await (const order of readline.createInterface({ input: process.stdin })) {
    const [word, out, how] = order.split(' ')
    if (word === 'leave') break
    if (word === 'commit') {
      await member.commit(nextOffsets())
      read.length = 0
    } else if (word === 'transact') {
      await member.transact(out, [...read], nextOffsets(), how === 'commit')
      if (how === 'commit') read.length = 0
    } else {
      throw new Error(`it cannot ${word}`)
    }
    console.log('done')
  }
  await member.close()
  process.exit(0)
}
