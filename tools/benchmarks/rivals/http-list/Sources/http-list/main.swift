// http-list FILE N ROUNDS [REQUESTS]: N cities in FILE.arbor and FILE.sqlite, a Hummingbird server
// for each in a separate process, and the same requests to both in turn: the latency of a list of
// 20 cities as JSON.
//
// http-list serve KIND FILE N PORT: one of the servers; KIND is `arbor`, `grdb` or `none`, which
// responds from memory and shows the cost of the server itself.
import Foundation

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.count == 5, arguments[0] == "serve", let count = Int64(arguments[3]),
  let port = Int(arguments[4])
{
  try await serve(source(arguments[1], arguments[2], count), port: port)
} else if arguments.count >= 3, let count = Int64(arguments[1]), let rounds = Int(arguments[2]) {
  let requests = arguments.count > 3 ? Int(arguments[3]) ?? 4000 : 4000
  try Comparison(path: arguments[0], count: count, requests: requests).run(rounds: rounds)
} else {
  print("usage: http-list FILE N ROUNDS [REQUESTS]")
  exit(2)
}

func source(_ kind: String, _ path: String, _ count: Int64) throws -> any CityLists {
  switch kind {
  case "arbor": try ArborCities(path: path + ".arbor", count: count)
  case "grdb": try GRDBCities(path: path + ".sqlite", count: count)
  default: FixedCities()
  }
}
