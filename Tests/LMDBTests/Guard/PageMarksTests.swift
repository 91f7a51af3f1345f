import Testing

@testable import LMDB

@Suite struct PageMarksTests {
  @Test("A page whose position has changed is verified again")
  func aMarkIsOfOnePosition() throws {
    let marks = PageMarks()
    #expect(!marks.hold(7, for: 3))
    marks.set(7, for: 3)
    #expect(marks.hold(7, for: 3))
    #expect(!marks.hold(8, for: 3) && !marks.hold(7, for: 4))
    // Pages beyond the capacity are not recorded, and no memory is touched.
    marks.set(7, for: .max)
    #expect(!marks.hold(7, for: .max))
  }

  @Test("Each page has its own mark, whichever segment contains it")
  func noTwoPagesShareAMark() {
    let marks = PageMarks()
    let pages = (0..<24 as Range<UInt64>).flatMap { power -> [UInt64] in
      let first: UInt64 = 1 << power
      return [first - 1, first, first + 1, first + first / 2]
    }
    let distinct = Set(pages)
    for page in distinct { marks.set(PageMarks.mark(page << 2), for: page) }
    for page in distinct {
      #expect(marks.hold(PageMarks.mark(page << 2), for: page))
      #expect(!marks.hold(PageMarks.mark(page << 2 ^ 4), for: page))
    }
  }

  @Test("The ends of large values are marked separately")
  func theEndsOfValuesAreVerifiedApart() {
    let marks = PageMarks()
    let mark = PageMarks.mark(1 << 8)
    marks.set(mark, for: 5)
    #expect(marks.hold(mark, for: 5) && !marks.holdEdges(mark, for: 5))
    marks.set(mark | PageMarks.edges, for: 5)
    #expect(marks.hold(mark, for: 5) && marks.holdEdges(mark, for: 5))
  }

  @Test("A database is settled for its handle, from the state in which it was verified")
  func aDatabaseIsSettledFromOneStateOn() {
    let marks = PageMarks()
    #expect(!marks.isSettled(3, in: 10))
    marks.settle(3, in: 10)
    #expect(marks.isSettled(3, in: 10) && marks.isSettled(3, in: 11))
    #expect(!marks.isSettled(3, in: 9) && !marks.isSettled(4, in: 10))
    marks.settle(3, in: 12)
    #expect(marks.isSettled(3, in: 10))
    marks.settle(3, in: 8)
    #expect(marks.isSettled(3, in: 8))
    marks.unsettle(3)
    #expect(!marks.isSettled(3, in: 12))
    marks.settle(.max, in: 1)
    #expect(!marks.isSettled(.max, in: 1))
  }
}
