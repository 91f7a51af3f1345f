import ArborModel
import Foundation
import Testing

@testable import ArborObjects

private final class Club: ManagedObject {
  override class var entityDescription: EntityDescription { described }
  private static let described = EntityDescription(
    name: "Club", className: "Club",
    attributes: [AttributeDescription("name", String.self, default: "")],
    relationships: [
      RelationshipDescription(
        "members", ToMany<Member>.self, of: Club.self, inverse: "club", at: \.club),
      RelationshipDescription("line", ToMany<Member>.self, .ordered),
    ])
  var members: ToMany<Member> { _toManyView(0) }
  var line: ToMany<Member> { _toManyView(1) }
}

private final class Member: ManagedObject {
  override class var entityDescription: EntityDescription { described }
  private static let described = EntityDescription(
    name: "Member", className: "Member",
    attributes: [AttributeDescription("place", Int.self, default: 0)],
    relationships: [
      RelationshipDescription(
        "club", Club?.self, of: Member.self, inverse: "members", at: \.members)
    ])
  var place: Int {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var club: Club? {
    get { _toOne(0) }
    set { _setToOne(0, newValue) }
  }
}

@Suite struct ToManyTests {
  private func store(members: Int = 0) throws -> PersistentStore {
    let store = try PersistentStore(for: [Club.self, Member.self], at: .inMemory)
    let context = store.makeContext()
    let club = context.insert(Club.self)
    for number in 0..<members {
      let member = context.insert(Member.self)
      member.place = number
      member.club = club
    }
    try context.commit()
    return store
  }

  @Test("Members that another context deletes during iteration are skipped")
  func membersThatOthersDeleteDuringAWalkAreLeftOut() throws {
    let batch = ToMany<Member>.Iterator.batch
    let store = try store(members: 4 * batch)
    let context = store.makeContext()
    let club = try #require(try context.objects(Club.self).first())
    var walk = club.members.makeIterator()
    let first = walk.next()
    var places = [try #require(first).place]
    let other = store.makeContext()
    // A whole batch, and one member of another.
    let gone = Set(batch..<2 * batch).union([3 * batch])
    for member in try other.fetch(Member.self) where gone.contains(member.place) {
      other.delete(member)
    }
    try other.commit()
    while let member = walk.next() { places.append(member.place) }
    #expect(places == (0..<4 * batch).filter { !gone.contains($0) })
    #expect(try context.count(Member.self) == places.count, "nothing is said to be damaged")
    try store.check()
  }

  @Test("Members are counted, tested, added and removed without loading them")
  func countsTestsAddsAndRemovesWithoutReading() throws {
    let context = try store(members: 1_000).makeContext()
    let club = try #require(try context.objects(Club.self).first())
    let known = try #require(try context.objects(Member.self).filter("place == 7").first())
    let registered = context.session.registry.count
    #expect(club.members.count == 1_000 && !club.members.isEmpty)
    #expect(club.members.contains(known))
    let new = context.insert(Member.self)
    #expect(!club.members.contains(new))
    club.members.insert(new)
    club.members.insert(new)
    club.members.remove(known)
    #expect(club.members.count == 1_000)
    #expect(club.members.contains(new) && !club.members.contains(known))
    #expect(new.club == club && known.club == nil)
    #expect(club.members.ids.count == 1_000)
    #expect(context.session.registry.count == registered + 1)
    try context.commit()
    #expect(club.members.count == 1_000)
  }

  @Test("Iteration reads members in batches as it proceeds")
  func aWalkReadsAsFarAsItGoes() throws {
    let context = try store(members: 1_000).makeContext()
    let club = try #require(try context.objects(Club.self).first())
    var walk = club.members.makeIterator()
    #expect(context.session.registry.count == 1)
    #expect(walk.next()?.place == 0)
    #expect(context.session.registry.count == 1 + ToMany<Member>.Iterator.batch)
    var numbers = [0]
    while let member = walk.next() {
      numbers.append(member.place)
      // The walk visits all members that existed when it began.
      if member.place == 3 { club.members.remove(member) }
    }
    #expect(numbers == Array(0..<1_000))
    #expect(club.members.map(\.place).count == 999)
    #expect(club.members.prefix(2).map(\.place) == [0, 1])
  }

  @Test("All members can be replaced or removed")
  func allMembersAreReplacedOrRemoved() throws {
    let context = try store(members: 5).makeContext()
    let club = try #require(try context.objects(Club.self).first())
    let members = try context.objects(Member.self).order(by: "place").fetch()
    club.members.removeAll()
    #expect(club.members.isEmpty && members[0].club == nil)
    club.members.formUnion(members.prefix(3))
    #expect(Set(club.members) == Set(members.prefix(3)))
    club.members.replaceAll(with: members.suffix(2))
    #expect(Set(club.members) == Set(members.suffix(2)))
    try context.commit()
  }

  @Test("Ordered members keep their order in a view")
  func orderedMembersKeepTheirOrder() throws {
    let context = try store(members: 4).makeContext()
    let club = try #require(try context.objects(Club.self).first())
    let members = try context.objects(Member.self).order(by: "-place").fetch()
    club.line.replaceAll(with: members)
    #expect(Array(club.line) == members)
    #expect(club.line.ids == members.map(\.objectID))
    try context.commit()
    club.line.remove(members[1])
    club.line.insert(members[1])
    #expect(club.line.map(\.place) == [3, 1, 0, 2])
  }

  @Test("Typed predicates can test members")
  func typedPredicatesAskForMembers() throws {
    let context = try store(members: 4).makeContext()
    _ = context.insert(Club.self)
    let clubs = context.objects(Club.self)
    #expect(try clubs.filter(#Predicate { $0.members.count == 4 }).count() == 1)
    #expect(try clubs.filter(#Predicate { $0.members.isEmpty }).count() == 1)
    #expect(try clubs.filter(#Predicate { $0.members.contains { $0.place == 2 } }).count() == 1)
    #expect(try clubs.filter(#Predicate { $0.members.contains { $0.place == 9 } }).count() == 0)
  }

  @Test("A view of members is empty after its context is released")
  func aViewOutlivesItsContext() throws {
    var context: ManagedObjectContext? = try store(members: 300).makeContext()
    let club = try #require(try context?.objects(Club.self).first())
    var walk = club.members.makeIterator()
    #expect(walk.next() != nil)
    context = nil
    #expect(club.members.count == 0)
    #expect(Array(club.members) == [])
    while walk.next() != nil {}
  }
}
