/// The conformance hierarchy of uniform type identifiers.
///
/// The table contains Apple's types for common kinds of data. A type conforms to itself, so
/// identifiers that aren't in the table still equal themselves. Case is ignored.
enum TypeIdentifiers {
  static func conforms(_ type: String, to other: String) -> Bool {
    let wanted = other.lowercased()
    var open = [type.lowercased()]
    var seen: Set<String> = []
    while let next = open.popLast() {
      if next == wanted { return true }
      guard seen.insert(next).inserted else { continue }
      open += parents[next] ?? []
    }
    return false
  }

  /// The direct supertypes of each type.
  private static let parents: [String: [String]] = {
    var parents: [String: [String]] = [:]
    for line in table.split(separator: "\n") {
      let sides = line.split(separator: ":")
      let above = sides[0].split(separator: " ").map(String.init)
      for type in sides[1].split(separator: " ") { parents[String(type), default: []] += above }
    }
    return parents
  }()

  /// Supertypes, followed by the types that directly conform to all of them.
  private static let table = """
    public.item public.content: public.composite-content public.archive
    public.item: public.data public.directory public.symlink com.apple.resolvable
    public.content: public.text public.image public.audiovisual-content public.contact \
    public.message public.calendar-event public.3d-content public.font public.database
    public.data public.content: public.pdf-placeholder
    public.data: public.text public.image public.archive public.executable public.database \
    public.font public.message public.contact public.calendar-event public.3d-content \
    public.audiovisual-content com.apple.property-list public.x509-certificate
    public.data public.composite-content: com.adobe.pdf com.adobe.postscript \
    com.microsoft.word.doc com.microsoft.excel.xls com.microsoft.powerpoint.ppt \
    org.openxmlformats.wordprocessingml.document org.openxmlformats.spreadsheetml.sheet \
    org.openxmlformats.presentationml.presentation org.idpf.epub-container
    com.adobe.postscript: com.adobe.encapsulated-postscript
    public.text: public.plain-text public.rtf public.html public.xml public.source-code \
    public.script public.json public.yaml public.delimited-values-text public.log
    public.plain-text: public.utf8-plain-text public.utf16-plain-text \
    public.utf16-external-plain-text com.apple.traditional-mac-plain-text public.source-code \
    net.daringfireball.markdown public.assembly-source
    public.delimited-values-text: public.comma-separated-values-text \
    public.tab-separated-values-text
    public.xml: public.xhtml public.svg-image public.rss com.apple.xml-property-list
    public.image: public.svg-image public.jpeg public.jpeg-2000 public.tiff public.png \
    com.compuserve.gif com.microsoft.bmp com.microsoft.ico com.apple.icns public.heic \
    public.heif public.camera-raw-image org.webmproject.webp public.avif com.apple.pict
    com.apple.property-list: com.apple.xml-property-list com.apple.binary-property-list
    public.source-code: public.c-source public.objective-c-source public.c-plus-plus-source \
    public.c-header public.swift-source com.sun.java-source
    public.source-code public.script: public.shell-script public.perl-script \
    public.python-script public.ruby-script com.netscape.javascript-source public.php-script
    public.audiovisual-content: public.movie public.audio
    public.movie: public.video com.apple.quicktime-movie public.avi public.mpeg public.mpeg-4 \
    public.3gpp com.apple.m4v-video
    public.audio: public.mp3 public.mpeg-4-audio public.aiff-audio com.microsoft.waveform-audio \
    public.midi-audio org.xiph.flac com.apple.protected-mpeg-4-audio public.aifc-audio
    public.archive: public.zip-archive public.tar-archive org.gnu.gnu-zip-archive \
    public.bzip2-archive com.apple.archive org.7-zip.7-zip-archive public.disk-image
    public.zip-archive: com.sun.java-archive org.idpf.epub-container \
    org.openxmlformats.wordprocessingml.document org.openxmlformats.spreadsheetml.sheet \
    org.openxmlformats.presentationml.presentation
    public.directory: public.folder com.apple.package com.apple.bundle
    public.folder: public.volume
    com.apple.package com.apple.bundle: com.apple.application-bundle com.apple.framework
    public.message: public.email-message
    public.contact: public.vcard
    public.text public.calendar-event: com.apple.ical.ics
    public.font: public.opentype-font public.truetype-font
    public.url: public.file-url
    public.data: public.url public.utf8-tab-separated-values-text
    """
}
