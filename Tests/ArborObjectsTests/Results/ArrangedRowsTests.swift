import ArborModel
import ArborStore
import TestSupport
import Testing

@testable import ArborObjects

/// The tree of results, compared with an array.
@Suite struct ArrangedRowsTests {
  /// A row of the plain model: two numbers are its key, the first of which is its section.
  private struct Plain {
    let object: ManagedObject
    let section: Int
    let rank: Int

    static func < (left: Plain, right: Plain) -> Bool {
      (left.section, left.rank, left.object.number) < (
        right.section, right.rank, right.object.number
      )
    }
  }

  /// The rows under test and their plain model.
  private struct World {
    /// Whether keys are bytes.
    let isEncoded: Bool
    let order: RecordOrder
    var random: SeededRandom
    var rows: ArrangedRows
    var plain: [Plain] = []
    var spare: [ManagedObject]

    init(_ context: ManagedObjectContext, _ random: SeededRandom, isEncoded: Bool) throws {
      let schema = context.session.schema
      let entity = try #require(schema.entity(named: "Employee"))
      // An expression has no key of bytes.
      let keys: [SortKey] = [isEncoded ? "age" : SortKey("age + 0"), "employeeID"]
      self.isEncoded = isEncoded
      self.random = random
      order = try RecordOrder(
        keys.bind(to: entity, in: schema), of: [entity],
        PredicateEnvironment(schema: schema, storeID: context.store.id, locale: nil))
      rows = ArrangedRows(in: order, hasSections: true)
      spare = (0..<2000).map { _ in context.insert(Employee.self) }
    }

    func row(_ plain: Plain) -> ArrangedRows.Row {
      let values = [plain.section, plain.rank].map { PropertyValue.integer(Int64($0)) }
      guard isEncoded else { return .init(object: plain.object, key: .values(values)) }
      var key = KeyBuffer()
      for value in values { _ = KeyEncoder.append(value, as: .int64, to: &key) }
      return .init(object: plain.object, key: .bytes(Array(key.bytes)))
    }

    /// Takes spare objects and gives them random keys.
    mutating func takePlain(_ count: Int, sections: Int) -> [Plain] {
      spare.shuffle(using: &random)
      defer { spare.removeLast(min(count, spare.count)) }
      return spare.suffix(count).map { object in
        Plain(
          object: object, section: .random(in: 0..<sections, using: &random),
          rank: .random(in: 0..<9, using: &random))
      }
    }

    mutating func replace(_ count: Int, sections: Int) {
      spare += plain.map(\.object)
      plain = takePlain(count, sections: sections).sorted(by: <)
      let keys = Dictionary(uniqueKeysWithValues: plain.map { ($0.object, row($0).key) })
      rows.replace(with: plain.map(\.object), isSorted: true) { keys[$0] }
      #expect(rows.isOrdered)
    }

    /// Removes some rows and inserts others.
    mutating func change(leaving: Int, arriving: Int, sections: Int) {
      let leaving = plain.indices.shuffled(using: &random).prefix(leaving).sorted()
      for index in leaving.reversed() { spare.append(plain.remove(at: index).object) }
      let new = takePlain(arriving, sections: sections).sorted(by: <)
      plain = (plain + new).sorted(by: <)
      let indices = rows.change(leaving: leaving, arriving: new.map(row))
      let arrived = Set(new.map(\.object))
      let expected = plain.indices.filter { arrived.contains(plain[$0].object) }
      #expect(indices == expected, "seed \(random.seed)")
    }

    mutating func compare() {
      let arrangement = rows.arrangement
      let seed = "seed \(random.seed)"
      #expect(arrangement.objects == plain.map(\.object), "\(seed)")
      #expect(arrangement.count == plain.count, "\(seed)")
      let starts = plain.indices.filter { $0 == 0 || plain[$0 - 1].section != plain[$0].section }
      #expect(arrangement.sectionStarts == starts, "\(seed)")
      #expect(arrangement.sectionCount == starts.count, "\(seed)")
      for section in starts.indices {
        let end = section + 1 < starts.count ? starts[section + 1] : plain.count
        #expect(arrangement.range(ofSection: section) == starts[section]..<end, "\(seed)")
      }
      for _ in 0..<10 {
        if let index = plain.indices.randomElement(using: &random) {
          let key = arrangement.key(at: index)
          #expect(arrangement[index] === plain[index].object, "\(seed)")
          #expect(rows.index(of: plain[index].object.number) == index, "\(seed)")
          #expect(arrangement.section(at: index) == starts.partitioningIndex { $0 > index } - 1)
          #expect(order.compare(key, row(plain[index]).key) == .equal, "\(seed)")
          #expect(
            order.section(of: key) == DistinctValue(.integer(Int64(plain[index].section))),
            "\(seed)")
        }
        if let object = spare.randomElement(using: &random) {
          #expect(rows.index(of: object.number) == nil, "\(seed)")
        }
      }
    }
  }

  @Test(
    "Does the same as an array, and earlier values stay as they were", arguments: [true, false])
  func doesWhatAnArrayDoes(isEncoded: Bool) throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      var world = try World(context, SeededRandom(), isEncoded: isEncoded)
      for (count, sections) in [(0, 3), (1, 1), (96, 5), (97, 40), (1300, 4), (1900, 900)] {
        world.replace(count, sections: sections)
        world.compare()
        var kept: [(Arrangement, [ManagedObject], [Int])] = []
        for round in 0..<60 {
          let arrangement = world.rows.arrangement
          kept.append((arrangement, world.plain.map(\.object), arrangement.sectionStarts))
          // Growing, shrinking, single changes and many at once.
          let most = [1, 5, 60, 700][round % 4]
          let grows = round % 20 < 10
          world.change(
            leaving: Int.random(in: 0...(grows ? most / 3 : most), using: &world.random),
            arriving: Int.random(in: 0...(grows ? most : most / 3), using: &world.random),
            sections: sections)
          world.compare()
        }
        for (arrangement, objects, starts) in kept {
          #expect(arrangement.objects == objects, "seed \(world.random.seed)")
          #expect(arrangement.sectionStarts == starts, "seed \(world.random.seed)")
        }
      }
      context.rollback()
    }
  }

  @Test("Many single insertions and removals leave a tree that finds everything")
  func growsAndShrinksOneByOne() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      var world = try World(context, SeededRandom(), isEncoded: true)
      for _ in 0..<1900 { world.change(leaving: 0, arriving: 1, sections: 50) }
      world.compare()
      for _ in 0..<1890 { world.change(leaving: 1, arriving: 0, sections: 50) }
      world.compare()
      context.rollback()
    }
  }

  @Test("Objects that are not in the order of their keys are found, too")
  func unorderedObjectsAreFound() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let objects = (0..<500).map { _ in context.insert(Skill.self) as ManagedObject }.shuffled()
      var rows = ArrangedRows(in: nil, hasSections: false)
      rows.replace(with: objects, isSorted: true) { _ in nil }
      #expect(!rows.isOrdered && rows.arrangement.objects == objects)
      for (index, object) in objects.enumerated() {
        #expect(rows.index(of: object.number) == index)
      }
      context.rollback()
    }
  }
}
