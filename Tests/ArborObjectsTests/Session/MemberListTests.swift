import ArborModel
import TestSupport
import Testing

@testable import ArborObjects

@Suite struct MemberListTests {
  @Test("Random edits of short and long lists agree with an array")
  func behavesAsAnArrayWithoutDuplicates() {
    var random = SeededRandom()
    for _ in 0..<200 {
      var list = MemberList()
      var plain: [ObjectNumber] = []
      for _ in 0..<Int.random(in: 0..<150, using: &random) {
        let number = ObjectNumber(rawValue: .random(in: 1...40, using: &random))
        if Bool.random(using: &random) {
          #expect(list.append(number) == !plain.contains(number), "seed \(random.seed)")
          if !plain.contains(number) { plain.append(number) }
        } else {
          #expect(list.remove(number) == plain.contains(number), "seed \(random.seed)")
          plain.removeAll { $0 == number }
        }
        #expect(list.contains(number) == plain.contains(number), "seed \(random.seed)")
      }
      #expect(list.numbers == plain && list.count == plain.count, "seed \(random.seed)")
      #expect(list.isEmpty == plain.isEmpty)
    }
  }

  @Test("Copies of a list are independent")
  func copiesAreIndependent() {
    let numbers = (1...30).map { ObjectNumber(rawValue: $0) }
    var list = MemberList(numbers)
    var copy = list.copy
    list.remove(numbers[3])
    copy.append(ObjectNumber(rawValue: 99))
    #expect(list.numbers == numbers.filter { $0 != numbers[3] })
    #expect(copy.numbers == numbers + [ObjectNumber(rawValue: 99)])
    #expect(!list.contains(ObjectNumber(rawValue: 99)) && copy.contains(numbers[3]))
  }
}
