// arborbench MODE FILE N [REPETITIONS or BLOCK] [nosync|classic]
// Modes: load, read, single, mutate, open and size are those of all implementations of workload W;
// index builds indexes over a loaded store, cascade deletes and undoes a graph in its own file,
// perform commits concurrently to a loaded store; predicates parses predicates and evaluates them;
// document writes FILE.json, import imports it twice, and byhand inserts the same objects from
// code; gazetteer compares operations on cities with SQLite, in FILE.arbor and FILE.sqlite;
// ledger compares a ledger of N transactions with SQLite, in FILE.arbor and FILE.sqlite;
// chat compares questions about N messages and posting with SQLite, and notes lists of N notes that
// are kept up to date with queries in SQLite, in FILE.arbor and FILE.sqlite;
// posts compares commits of N messages with and without derived aggregates, in FILE-derived and
// FILE-plain;
// lists changes live lists of N notes in memory;
// parts compares values of Codable types with plain attributes in N objects in memory;
// evolve opens and scans copies of a loaded store with the next version of its model;
// online builds indexes after a migration of copies, with concurrent commits;
// log commits and loads with and without a log, in separate files, and restores; backup backs up
// and restores a loaded store, and measures the memory; journal compares single durable commits with
// and without a journal, in separate files;
// postgres FILE N CONNECTION [ROUNDS] appends to logs of a PostgreSQL database, commits through
// one, and inserts rows of the same size by libpq;
// sharing FILE N CONNECTION [ROUNDS] shares a store through such a log, joins it with a copy, reads
// and catches up;
// readers reads on one thread and on as many as there are processors;
// cancel measures how long operations on a loaded store and its document continue after a
// cancellation.
import Foundation

let arguments = CommandLine.arguments.dropFirst()
guard arguments.count >= 3, let count = Int(arguments[arguments.startIndex + 2]), count >= 100
else {
  print(
    "usage: arborbench load|read|single|mutate|open|size|index|cascade|perform|predicates|document|"
      + "byhand|import|gazetteer|ledger|chat|notes|posts|lists|parts|evolve|online|log|backup|journal|"
      + "postgres|sharing|readers|cancel "
      + "FILE N [REPETITIONS or BLOCK] [nosync|classic]")
  exit(2)
}
let mode = arguments[arguments.startIndex]
let number = arguments.count > 3 ? Int(arguments[arguments.startIndex + 3]) ?? 1 : 1
let benchmark = Benchmark(
  path: arguments[arguments.startIndex + 1], count: count, flags: Set(arguments.dropFirst(3)))
do {
  switch mode {
  case "load": try benchmark.load()
  case "read": try benchmark.read(repetitions: number)
  case "single": try benchmark.single(block: number)
  case "mutate": try benchmark.mutate()
  case "open": for _ in 0..<number { try benchmark.openTest() }
  case "size": try benchmark.size()
  case "index": try benchmark.buildIndexes()
  case "cascade": try benchmark.cascade()
  case "perform": try await benchmark.perform()
  case "predicates": try benchmark.predicates()
  case "document": try benchmark.writeDocument()
  case "byhand": try benchmark.insertByHand()
  case "import": try await benchmark.importDocument()
  case "gazetteer": try benchmark.compareGazetteers(rounds: number)
  case "ledger": try benchmark.compareLedgers(rounds: number)
  case "chat": try benchmark.compareChats(rounds: number)
  case "notes": try benchmark.compareNotes(rounds: number)
  case "posts": try benchmark.comparePosts(rounds: number)
  case "lists": try benchmark.followLists(rounds: number)
  case "parts": try benchmark.measureParts(rounds: number)
  case "evolve": try benchmark.evolve(rounds: number)
  case "online": try benchmark.buildOnline(rounds: number)
  case "log": try benchmark.log(rounds: number)
  case "journal": try benchmark.journal(rounds: number)
  case "backup": try benchmark.backUp()
  case "readers": try benchmark.readConcurrently(rounds: number)
  case "postgres":
    guard arguments.count > 3 else { throw BenchmarkError("postgres needs a connection string") }
    try benchmark.postgres(
      arguments[arguments.startIndex + 3],
      rounds: arguments.count > 4 ? Int(arguments[arguments.startIndex + 4]) ?? 1 : 1)
  case "sharing":
    guard arguments.count > 3 else { throw BenchmarkError("sharing needs a connection string") }
    try benchmark.sharing(
      arguments[arguments.startIndex + 3],
      rounds: arguments.count > 4 ? Int(arguments[arguments.startIndex + 4]) ?? 1 : 1)
  case "cancel": try await benchmark.cancel()
  default: throw BenchmarkError("no mode \(mode)")
  }
} catch {
  FileHandle.standardError.write(Data("arborbench: \(error)\n".utf8))
  exit(1)
}
