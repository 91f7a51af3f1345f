import ArborErrors
import Testing

@Suite struct StopProgramTests {
  @Test("The reason and its location are written to standard error")
  func theReasonIsWritten() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      stopProgram("The context is closed.", file: "Module/File.swift", line: 7)
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("Module/File.swift:7: The context is closed.\n"))
  }
}
