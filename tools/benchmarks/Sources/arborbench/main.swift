// arborbench MODE FILE N [REPETITIONS or BLOCK] [nosync]
// Modes: load, read, single, mutate, open, size, as every implementation of workload W has them;
// index builds indexes over a loaded store, cascade deletes and undoes a graph in its own file,
// perform commits concurrently to a loaded store, predicates parses texts and tests them on it;
// document writes FILE.json, which import imports twice, and byhand inserts the same objects from a
// program; gazetteer compares operations on cities with SQLite, in FILE.arbor and FILE.sqlite;
// ledger compares a ledger of N transactions with SQLite, in FILE.arbor and FILE.sqlite;
// evolve opens and scans copies of a loaded store with the next version of its model;
// online fills indexes behind a migration of copies, with commits beside it;
// log commits and loads with and without a log, in files of its own, and restores; backup backs a
// loaded store up and restores it, and says how much memory that takes;
// postgres FILE N CONNECTION [ROUNDS] appends to logs of a PostgreSQL database, commits through
// one, and inserts rows of the same size by libpq;
// sharing FILE N CONNECTION [ROUNDS] shares a store through such a log, joins it with a copy, reads
// and catches up;
// cancel says how long operations on a loaded store and its document go on after a cancellation.
import Foundation

let arguments = CommandLine.arguments.dropFirst()
guard arguments.count >= 3, let count = Int(arguments[arguments.startIndex + 2]), count >= 100
else {
  print(
    "usage: arborbench load|read|single|mutate|open|size|index|cascade|perform|predicates|document|"
      + "byhand|import|gazetteer|ledger|evolve|online|log|backup|postgres|sharing|cancel FILE N "
      + "[REPETITIONS or BLOCK] [nosync]")
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
  case "evolve": try benchmark.evolve(rounds: number)
  case "online": try benchmark.buildOnline(rounds: number)
  case "log": try benchmark.log(rounds: number)
  case "backup": try benchmark.backUp()
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
