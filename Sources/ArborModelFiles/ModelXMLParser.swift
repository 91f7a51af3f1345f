internal import ArborModel
import ArborJSON
import Foundation

#if canImport(FoundationXML)
  import FoundationXML
#endif

final class ModelXMLParser: NSObject, XMLParserDelegate {
  private var open: [ModelXMLNode] = []
  private var root: ModelXMLNode?
  /// The first error, or `nil` if there is none. Later ones are usually its consequences.
  private var fault: (code: Int, position: ModelXMLText.Position)?
  private var tooDeep: ModelXMLText.Position?

  /// The maximum nesting depth of elements. Models nest them four levels deep. Unknown elements are
  /// preserved, but releasing a very deep tree would overflow the stack.
  static let maximumDepth = 64

  /// Returns the root element of a document.
  ///
  /// - Throws: ``ArborError`` `invalidModel` with line and column if the text is malformed.
  static func parse(_ data: Data, text: ModelXMLText) throws(ArborError) -> ModelXMLNode {
    try checkEncoding(data, text)
    let parser = XMLParser(data: data)
    let builder = ModelXMLParser()
    parser.delegate = builder
    parser.shouldResolveExternalEntities = false
    // The result is unreliable: it is `true` for truncated documents and mismatched tags.
    _ = parser.parse()
    if let position = builder.tooDeep {
      throw ArborError(
        .invalidModel,
        "The XML is nested more than \(maximumDepth) levels deep. Restore the file."
      ).with(location: text.start(ofTagEndingAt: position))
    }
    if builder.fault == nil, let error = parser.parserError as NSError? {
      builder.fault = (error.code, builder.position(of: parser))
    }
    let endsEarly = builder.fault.map { Self.codesOfAnEarlyEnd.contains($0.code) } ?? true
    if endsEarly, let unclosed = builder.open.last {
      throw ArborError(
        .invalidModel,
        "The XML ends inside the element \(unclosed.name). The file is truncated. Restore it."
      ).with(location: text.start(ofTagEndingAt: unclosed.tagEnd))
    }
    if let fault = builder.fault {
      throw ArborError(
        .invalidModel,
        "The XML is malformed: \(Self.words(for: fault.code)). Correct it, or restore the file."
      ).with(location: text.location(of: fault.position))
    }
    guard let root = builder.root else {
      throw ArborError(
        .invalidModel, "The file contains no XML element. Restore it."
      ).with(location: text.location(of: .init(line: 1, column: 1)))
    }
    return root
  }

  /// Rejects invalid UTF-8, because Foundation's parser traps on it.
  private static func checkEncoding(_ data: Data, _ text: ModelXMLText) throws(ArborError) {
    let fault = data.withUnsafeBytes { UTF8Check.firstFault(in: $0, from: 0, to: $0.count) }
    guard let fault else { return }
    throw ArborError(
      .invalidModel, "The file is not UTF-8. Save it as UTF-8, or restore it."
    ).with(location: data.withUnsafeBytes { text.location(ofByte: fault, in: $0) })
  }

  private func position(of parser: XMLParser) -> ModelXMLText.Position {
    .init(line: parser.lineNumber, column: parser.columnNumber)
  }

  /// The libxml2 codes that can indicate a premature end: an error at the end of the document, and
  /// an unfinished tag.
  private static let codesOfAnEarlyEnd: Set<Int> = [5, 77]

  /// Returns a message for one of libxml2's error codes. The parser reports only the code.
  private static func words(for code: Int) -> String {
    switch code {
    case 4: "the document is empty"
    case 5: "there is content after the end of the document"
    case 9: "a character is not allowed in XML"
    case 26: "an entity reference is not defined"
    case 38: "an attribute's value contains <, which must be written &lt;"
    case 39, 40: "an attribute's value is not quoted"
    case 41: "an attribute has no value"
    case 42: "an element has the same attribute twice"
    case 65: "a space is missing between attributes"
    case 68: "a name is missing"
    case 73: "a > is missing"
    case 76: "an end tag doesn't match its start tag"
    case 89: "entity references are nested too deeply"
    default: "error \(code) of the XML parser"
    }
  }

  // MARK: XMLParserDelegate

  func parser(
    _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
    qualifiedName: String?, attributes: [String: String]
  ) {
    guard tooDeep == nil else { return }
    guard open.count < Self.maximumDepth else {
      tooDeep = position(of: parser)
      parser.abortParsing()
      return
    }
    open.append(ModelXMLNode(name, attributes, tagEnd: position(of: parser)))
  }

  func parser(
    _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
  ) {
    guard tooDeep == nil, let closed = open.popLast() else { return }
    if open.isEmpty {
      root = closed
    } else {
      open[open.count - 1].children.append(closed)
    }
  }

  func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) {
    if fault == nil { fault = ((error as NSError).code, position(of: parser)) }
  }
}
