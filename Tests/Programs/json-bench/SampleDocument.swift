import ArborJSON
import ArborExchange
import ArborModel
import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A list of employees as an application receives it from a service, and several functions that
/// read it. Each returns the number of objects and sums up the values it read, so that the compiler
/// cannot remove the work.
final class SampleDocument {
  struct Employee: ValueModel {
    let employeeID: Int64
    let name: String
    let email: String
    let age: Int64
    let salary: Double
    let hired: String
    let isManager: Bool
    let departmentID: Int64
    let manager: Int64?
    let notes: String
  }

  let data: Data
  /// The same objects in JSON Lines format.
  let lines: Data
  private var sum = 0

  init(count: Int) {
    var state: UInt64 = 1
    func random(_ limit: UInt64) -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return (state >> 33) % limit
    }
    let first = ["Ada", "Grace", "Jürgen", "Marie", "Linus", "Søren", "Edsger", "Barbara"]
    let last = ["Lovelace", "Hopper", "Müller", "Curie", "Torvalds", "Dahl", "Dijkstra", "Liskov"]
    let objects = (0..<count).map { number in
      """
      {"employeeID": \(number), "name": "\(first[Int(random(8))]) \(last[Int(random(8))])", \
      "email": "user\(number)@example.com", "age": \(20 + random(50)), \
      "salary": \(Double(random(10_000_000)) / 100), \
      "hired": "20\(10 + random(14))-0\(1 + random(9))-1\(random(9))T08:30:00Z", \
      "isManager": \(random(2) == 0), "departmentID": \(random(1_000)), \
      "manager": \(number > 0 ? String(random(UInt64(number))) : "null"), \
      "notes": "Likes \\"tea\\" & long walks, number \(random(100_000))"}
      """
    }
    lines = Data(objects.joined(separator: "\n").utf8)
    data = Data("[\n  \(objects.joined(separator: ",\n  "))\n]\n".utf8)
  }

  static func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }

  func scan() throws -> Int { try JSONDocument(data).root.count }

  func scanItems() throws -> Int { try eachItem { _ in } }

  func scanLines() throws -> Int {
    var reader = JSONItemReader(.data(lines), layout: .lines)
    var count = 0
    while let batch = try reader.next(1_000) { count += batch.items.count }
    return count
  }

  func readTyped() throws -> Int {
    let members = JSONMembers(
      JSONKeyTable([
        "employeeID", "name", "email", "age", "salary", "hired", "isManager", "departmentID",
        "manager", "notes",
      ]))
    return try eachItem { item in
      members.find(in: item)
      sum &+= Int(members[0]?.int64 ?? 0)
      sum &+= members[1]?.string?.utf8.count ?? 0
      sum &+= members[2]?.string?.utf8.count ?? 0
      sum &+= Int(members[3]?.int64 ?? 0)
      sum &+= Int(members[4]?.double ?? 0)
      sum &+= members[5]?.string?.utf8.count ?? 0
      sum &+= members[6]?.bool == true ? 1 : 0
      sum &+= Int(members[7]?.int64 ?? 0)
      sum &+= Int(members[8]?.int64 ?? 0)
      sum &+= members[9]?.string?.utf8.count ?? 0
    }
  }

  func readAny() throws -> Int {
    try eachItem { item in
      item.forEachMember { _, value in
        switch value.kind {
        case .string: sum &+= value.string?.utf8.count ?? 0
        case .number: sum &+= Int(value.double ?? 0)
        case .bool: sum &+= value.bool == true ? 1 : 0
        case .null, .array, .object: break
        }
      }
    }
  }

  func readValue() throws -> Int { try JSONValue.parse(data).array?.count ?? 0 }

  /// The value to write, created outside of the measured time.
  private(set) lazy var value = (try? JSONValue.parse(data)) ?? .null

  func writeValue() throws -> Int { value.data().isEmpty ? 0 : value.array?.count ?? 0 }

  func decode() throws -> Int { try JSONDecoder().decode([Employee].self, from: data).count }

  func decodeModels() throws -> Int {
    try ValueAdapter.decode([Employee].self, from: .data(data)).count
  }

  func serialize() throws -> Int {
    (try JSONSerialization.jsonObject(with: data) as? [Any])?.count ?? 0
  }

  private func eachItem(_ body: (JSONNode) -> Void) throws -> Int {
    var reader = JSONItemReader(.data(data))
    var count = 0
    while let batch = try reader.next(1_000) {
      for item in batch.items { body(item) }
      count += batch.items.count
    }
    return count
  }
}
