// log-writer PATH CONNECTION NAME SECONDS [LOG]: opens the store at PATH, which shares its commits
// through the log LOG of a PostgreSQL database, and commits to it for SECONDS, regardless of server
// failures, or until its model has changed. Each commit adds a mark NAME-n and increments a counter
// in an object that all writers change. Prints a line on the standard output for each acknowledged
// commit, and other events on the standard error.
//
// log-writer PATH CONNECTION NAME version VERSION [LOG]: opens the store with a version of the
// model, adds one mark NAME, and closes it. Prints NAME once the mark is committed.
import ArborData
import ArborPostgres
import Foundation

let arguments = CommandLine.arguments
if arguments.count >= 6, arguments[4] == "version", let version = Int(arguments[5]) {
  try MarkWriter.addMark(
    arguments[3], path: arguments[1], connection: arguments[2], version: version,
    log: arguments.count > 6 ? arguments[6] : nil)
  exit(0)
}
guard arguments.count >= 5, let seconds = Double(arguments[4]) else {
  FileHandle.standardError.write(
    Data("usage: log-writer PATH CONNECTION NAME [SECONDS | version VERSION] [LOG]\n".utf8))
  exit(2)
}
let end = ContinuousClock.now + .seconds(seconds)
let writer = try MarkWriter(
  path: arguments[1], connection: arguments[2], name: arguments[3], until: end,
  log: arguments.count > 5 ? arguments[5] : nil)
await writer.run()
