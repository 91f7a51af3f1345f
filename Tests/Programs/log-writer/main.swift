// log-writer PATH CONNECTION NAME SECONDS: opens the store at PATH, which shares its commits
// through the log of a PostgreSQL database, and commits to it for SECONDS, regardless of server
// failures. Each commit adds a mark NAME-n and increments a counter in an object that all writers
// change. Prints a line on the standard output for each acknowledged commit, and other events on
// the standard error.
//
// log-writer PATH CONNECTION NAME version VERSION: opens the store with a version of the model,
// adds one mark NAME, and closes it.
import ArborData
import ArborPostgres
import Foundation

let arguments = CommandLine.arguments
if arguments.count == 6, arguments[4] == "version", let version = Int(arguments[5]) {
  try MarkWriter.addMark(
    arguments[3], path: arguments[1], connection: arguments[2], version: version)
  exit(0)
}
guard arguments.count == 5, let seconds = Int(arguments[4]) else {
  FileHandle.standardError.write(
    Data("usage: log-writer PATH CONNECTION NAME [SECONDS | version VERSION]\n".utf8))
  exit(2)
}
let end = ContinuousClock.now + .seconds(seconds)
let writer = try MarkWriter(
  path: arguments[1], connection: arguments[2], name: arguments[3], until: end)
await writer.run()
