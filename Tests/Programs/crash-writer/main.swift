// crash-writer rounds PATH SEED COUNT: commits rounds until it is done or killed.
// crash-writer forsake PATH SEED COUNT: the same, then kills itself without closing the ledger.
// crash-writer share PATH SEED COUNT: commits rounds through a log in the folder that the
//   environment specifies.
// crash-writer append PATH WRITER COUNT: commits entries concurrently with other writers.
// crash-writer resume PATH WRITER COUNT: the same, continuing after the entries that this writer
//   has already committed.
// crash-writer claim PATH WRITER COUNT: fetches or inserts labels that other processes insert, too.
// crash-writer seize PATH 0 COUNT: stops itself in a transaction COUNT times, each time until it is
//   continued.
// crash-writer queue PATH LEASE 1: does the jobs of a queue until all are done, with leases of LEASE
//   milliseconds.
// crash-writer lapse PATH LEASE 1: claims a job, stops itself, and then finishes the job.
// crash-writer careless PATH LEASE 1: the same, but reads the job before and claims it after it has
//   stopped.
// crash-writer unfenced PATH LEASE 1: the same as lapse, but doesn't check the lease at the end.
// crash-writer contend PATH 0 COUNT: increments a number COUNT times, as other processes do.
// crash-writer turn PATH 0 1: takes the turn of retries and stops itself.
// crash-writer watch PATH COUNT 1: waits until there are COUNT entries, then commits one more.
// crash-writer empty PATH 0 1: deletes all entries in one commit.
// crash-writer index PATH COUNT 1: opens the ledger with additional indexes, which are built, and
//   commits COUNT entries.
// crash-writer build PATH EVENT BATCH: builds them in small batches and kills itself at an event.
// crash-writer evolve PATH 0 1: opens the ledger with the next version of its model.
// crash-writer compact PATH 0 COUNT: repeatedly returns the ledger's free pages to the file system.
// crash-writer copy PATH 0 1: copies the ledger to PATH.copy, without its free pages.
// crash-writer salvage PATH 0 1: salvages the ledger to PATH.copy.
// crash-writer backup PATH INTERVAL COUNT: repeatedly backs up the ledger to PATH.log, every
//   INTERVAL-th time with a snapshot.
// crash-writer restore PATH 0 1: restores the ledger from PATH.log to PATH.restored.
// crash-writer scrub PATH 0 COUNT: repeatedly scrubs the ledger.
// crash-writer hold PATH 0 1: claims the right to scrub the ledger and keeps it until it is killed.
// crash-writer attend PATH 0 1: opens the ledger when a scrub is due and waits until it is done.
// crash-writer convert PATH EVENT BATCH: migrates with custom code and kills itself at an event.
// crash-writer interrupt PATH CALL BATCH: the same, but kills itself at a call of the custom code.
// crash-writer pause PATH EVENT BATCH: the same, but pauses in the custom code until PATH.go
//   exists.
// crash-writer purge PATH 0 1: removes all objects of the ledger.
// crash-writer album PATH SEED COUNT: commits rounds to an album with an ordered relationship and
//   large binaries.
// crash-writer seed PATH 0 1: seeds an album from PATH.json.
// crash-writer import PATH 0 1: imports PATH.json into an album, in batches.
//
// System calls fail if the environment asks for it; see faults.c.
// A line on the standard output acknowledges each commit once it is durable.
import ArborData
import CFaults
import Foundation

let arguments = CommandLine.arguments
guard arguments.count == 5, let number = UInt64(arguments[3]), let count = Int(arguments[4]) else {
  FileHandle.standardError.write(
    Data(
      """
      usage: crash-writer \
      rounds|forsake|share|append|resume|claim|seize|queue|lapse|careless|unfenced|contend|turn|\
      watch|empty|index|build|evolve|compact|copy|salvage|backup|restore|scrub|hold|attend|convert|interrupt|pause|purge|album|seed|\
      import PATH NUMBER COUNT

      """.utf8))
  exit(2)
}
do {
  try Restrictions(environment: ProcessInfo.processInfo.environment).apply()
  @Sendable func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
  if arguments[1] == "index" {
    say("building 1")
    let store = try LedgerIndexes.open(arguments[2])
    say("built 1")
    let context = store.makeContext()
    for _ in 0..<number { try context.insert("Entry")["entryID"] = store.uniqueIDs.next() }
    try context.commit()
    store.close()
    exit(0)
  }
  if arguments[1] == "build" {
    try LedgerIndexes.build(arguments[2], killingAt: Int(number), batch: count)
    say("built 1")
    exit(0)
  }
  if arguments[1] == "evolve" {
    say("evolving 1")
    try LedgerEvolution.open(arguments[2]).close()
    say("evolved 1")
    exit(0)
  }
  if arguments[1] == "compact" {
    let store = try LedgerWriter.open(arguments[2])
    for number in 1...count {
      try store.compact()
      say("compacted \(number)")
    }
    store.close()
    exit(0)
  }
  if arguments[1] == "copy" {
    let store = try LedgerWriter.open(arguments[2])
    try store.copy(to: URL(filePath: arguments[2] + ".copy"), compacting: true)
    say("copied 1")
    store.close()
    exit(0)
  }
  if arguments[1] == "salvage" {
    let report = try PersistentStore.salvage(
      URL(filePath: arguments[2]), to: URL(filePath: arguments[2] + ".copy"))
    say("salvaged \(report.sequence ?? 0)")
    exit(0)
  }
  if arguments[1] == "purge" {
    let store = try LedgerWriter.open(arguments[2])
    try store.purge()
    say("purged 1")
    store.close()
    exit(0)
  }
  if ["album", "seed", "import"].contains(arguments[1]) {
    let writer = try AlbumWriter(path: arguments[2], acknowledge: say)
    switch arguments[1] {
    case "seed": try writer.seed(arguments[2])
    case "import": try await writer.importPictures(arguments[2])
    default: try writer.write(rounds: count, seed: number)
    }
    writer.store.close()
    exit(0)
  }
  if arguments[1] == "share" {
    try LedgerSharing.run(arguments[2], seed: number, rounds: count, acknowledge: say)
    exit(0)
  }
  if arguments[1] == "backup" {
    try LedgerBackUp.run(
      arguments[2], snapshotEvery: Int(number), count: count, acknowledge: say)
    exit(0)
  }
  if arguments[1] == "restore" {
    try LedgerBackUp.restore(arguments[2])
    say("restored 1")
    exit(0)
  }
  if arguments[1] == "scrub" {
    try LedgerScrub.run(arguments[2], count: count, acknowledge: say)
    exit(0)
  }
  if arguments[1] == "hold" {
    try LedgerScrub.hold(arguments[2], acknowledge: say)
    exit(0)
  }
  if arguments[1] == "attend" {
    try LedgerScrub.attend(arguments[2], acknowledge: say)
    exit(0)
  }
  if arguments[1] == "convert" {
    try await Conversion.run(arguments[2], killingAt: Int(number), batch: count)
    say("converted 1")
    exit(0)
  }
  if arguments[1] == "interrupt" {
    try await Conversion.run(arguments[2], killingAtCall: Int(number), batch: count)
    say("converted 1")
    exit(0)
  }
  if arguments[1] == "pause" {
    try await Conversion.run(arguments[2], pausingAt: Int(number), batch: count, say)
    say("converted 1")
    exit(0)
  }
  if arguments[1] == "claim" {
    try LedgerClaims.run(arguments[2], writer: Int(number), count: count, acknowledge: say)
    exit(0)
  }
  if arguments[1] == "seize" {
    try LedgerSeizure.run(arguments[2], count: count, acknowledge: say)
    exit(0)
  }
  if ["queue", "lapse", "careless", "unfenced"].contains(arguments[1]) {
    let fault: QueueFault? =
      switch arguments[1] {
      case "careless": .claimsWithoutJudging
      case "unfenced": .finishesWithoutFence
      default: nil
      }
    let isEndless = arguments[1] == "queue"
    var hasStopped = false
    let worker = try QueueWorker(
      arguments[2], lease: .milliseconds(Int(number)), fault: fault,
      work: { job in
        if isEndless {
          usleep(.random(in: 0...500))
        } else if !hasStopped {
          hasStopped = true
          say("stopping \(job)")
          raise(SIGSTOP)
        }
      }, acknowledge: say)
    if isEndless { try await worker.run() } else { _ = try await worker.doNext() }
    exit(0)
  }
  if arguments[1] == "contend" {
    try await QueueContention.run(arguments[2], count: count, acknowledge: say)
    exit(0)
  }
  if arguments[1] == "turn" {
    try QueueContention.holdTurn(arguments[2], acknowledge: say)
    exit(0)
  }
  if arguments[1] == "watch" {
    try LedgerWatch.run(arguments[2], until: Int(number), acknowledge: say)
    exit(0)
  }
  let writer = try LedgerWriter(path: arguments[2], acknowledge: say)
  switch arguments[1] {
  case "append": try writer.append(writer: Int(number), count: count)
  case "resume": try writer.append(writer: Int(number), count: count, isResumed: true)
  case "empty": try writer.empty()
  case "forsake":
    try writer.write(rounds: count, seed: number)
    kill(getpid(), SIGKILL)
  default: try writer.write(rounds: count, seed: number)
  }
} catch {
  FileHandle.standardError.write(Data("crash-writer: \(error)\n".utf8))
  exit(1)
}
