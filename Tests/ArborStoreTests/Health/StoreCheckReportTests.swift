import Testing

@testable import ArborStore

@Suite struct StoreCheckReportTests {
  @Test("A report that was cut short doesn't state an exact number of problems")
  func countsItsProblems() {
    var report = StoreCheckReport()
    report.add(.header, "The header is damaged.")
    #expect(report.problemCount == "1 problem")
    report.add(.header, "The entry \"model\" is missing.")
    #expect(report.problemCount == "2 problems")
    while !report.isCutShort { report.add(.header, "The entry \"model\" is missing.") }
    #expect(report.problems.count == 1000)
    #expect(report.problemCount == "more than 1000 problems")
  }
}
